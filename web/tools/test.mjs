// Runs tests/*.test.mjs: what the pages compute, without a browser.
//
//   node tools/test.mjs [node's options for tests]
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as esbuild from 'esbuild';

const here = fileURLToPath(new URL('..', import.meta.url));
const outdir = mkdtempSync(join(tmpdir(), 'leasehold-web-tests-'));
const tests = readdirSync(`${here}tests`).filter((file) => file.endsWith('.test.mjs'));
let failed = 1;
try {
  await esbuild.build({
    absWorkingDir: here,
    entryPoints: tests.map((file) => `tests/${file}`),
    outdir,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'es2022',
    // What the sources expect of a browser when they are loaded.
    banner: {
      js: "globalThis.matchMedia ??= () => ({ matches: false }); globalThis.document ??= { baseURI: 'http://page.test/' }; globalThis.location ??= { pathname: '/', search: '' }; globalThis.addEventListener ??= () => {};",
    },
    logLevel: 'warning',
  });
  failed = spawnSync(process.execPath, ['--test', ...process.argv.slice(2), ...tests.map((file) => join(outdir, file))], { stdio: 'inherit' }).status ?? 1;
} finally {
  rmSync(outdir, { recursive: true, force: true });
}
process.exit(failed);
