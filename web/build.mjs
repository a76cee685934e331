// Builds the dashboard: src/ to dist/ (or to --out FOLDER). The same sources give the same bytes.
//
//   node build.mjs [--out FOLDER] [--watch]
import { cpSync, mkdirSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import * as esbuild from 'esbuild';

const here = fileURLToPath(new URL('.', import.meta.url));
const at = process.argv.indexOf('--out');
const outdir = at < 0 ? `${here}dist` : process.argv[at + 1];

rmSync(outdir, { recursive: true, force: true });
mkdirSync(outdir, { recursive: true });
for (const file of ['index.html', 'icon.svg']) cpSync(`${here}src/${file}`, `${outdir}/${file}`);

const options = {
  absWorkingDir: here,
  entryPoints: { app: 'src/main.tsx', theme: 'src/theme.ts' },
  outdir,
  bundle: true,
  format: 'esm',
  splitting: true,
  chunkNames: 'chunk-[hash]',
  target: 'es2022',
  minify: true,
  legalComments: 'none',
  charset: 'utf8',
  jsx: 'automatic',
  jsxImportSource: 'preact',
  logLevel: 'warning',
};

if (process.argv.includes('--watch')) {
  await (await esbuild.context(options)).watch();
} else {
  await esbuild.build(options);
}
