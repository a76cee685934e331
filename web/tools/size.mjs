// Measures the first load of every page: index.html, the style sheet, the scripts that are loaded at once, and the chunk of the
// page. Exits with 1 if one is larger than it may be.
//
//   node tools/size.mjs DIST MOST
import { readdirSync, readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';

const [, , dist, most] = process.argv;
const text = (file) => readFileSync(`${dist}/${file}`, 'utf8');
const size = (file) => gzipSync(readFileSync(`${dist}/${file}`), { level: 9 }).length;
const sum = (files) => [...files].reduce((all, file) => all + size(file), 0);

/** What a script imports, at once or later. */
const imports = (file, pattern) => [...text(file).matchAll(pattern)].map((match) => match[1]);
const atOnce = (file) => imports(file, /(?:from|import)\s*"\.\/([^"]+)"/g);
const later = (file) => imports(file, /import\(\s*"\.\/([^"]+)"\s*\)/g);

function closure(file, all = new Set()) {
  if (all.has(file)) return all;
  all.add(file);
  for (const other of atOnce(file)) closure(other, all);
  return all;
}

const first = new Set(['index.html', 'app.css', 'theme.js', ...closure('app.js')]);
const lazy = new Set(readdirSync(dist).filter((file) => file.endsWith('.js')).flatMap(later));
let worst = sum(first);
console.log(`first load: ${worst} bytes with gzip`);
for (const chunk of lazy) {
  const bytes = sum(new Set([...first, ...closure(chunk)]));
  console.log(`  with ${chunk}: ${bytes}`);
  worst = Math.max(worst, bytes);
}
if (worst > Number(most)) {
  console.error(`the first load may have ${most} bytes`);
  process.exit(1);
}
