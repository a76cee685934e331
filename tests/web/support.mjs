// Servers, workers and a browser for the tests. Everything that was started ends with its test file.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { chromium } from 'playwright-core';

const tool = process.env.LEASEHOLD_TOOL;
const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
/** For what a busy machine may take long to do; a test that works waits for a fraction of it. */
export const patience = 30_000;

const running = new Set();
const folder = mkdtempSync(join(tmpdir(), 'leasehold-web-'));
let browser;

after(async () => {
  await browser?.close();
  for (const child of running) child.kill('SIGKILL');
  await Promise.all([...running].map((child) => child.ended));
  rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
});

let stores = 0;
export const newStore = () => `sqlite:${folder}/${(stores += 1)}.db?synchronous=normal`;

/** A process of leasehold, on a store unless it has one of its own: `die()` is kill -9, `ended` is a promise of its exit code. */
export function start(db, ...args) {
  const child = spawn(tool, [...(db ? ['--db', db] : []), ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes) => (output += bytes));
  running.add(child);
  child.output = () => output;
  child.ended = new Promise((resolve) =>
    child.once('close', (code) => {
      running.delete(child);
      resolve(code);
    }),
  );
  child.die = async () => {
    child.kill('SIGKILL');
    await child.ended;
  };
  return child;
}

/** Runs a command of leasehold to its end, and returns what it printed. */
export async function run(db, ...args) {
  const child = start(db, ...args);
  const code = await child.ended;
  if (code !== 0) throw new Error(`leasehold ${args.join(' ')}: exit code ${code}: ${child.output()}`);
  return child.output();
}

export function freePort() {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });
}

export async function until(what, holds, most = patience) {
  const end = Date.now() + most;
  for (;;) {
    if (await holds()) return;
    if (Date.now() > end) throw new Error(`waited in vain: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** leasehold serve, when it is ready. `call(act, arguments)` performs an act. */
export async function serve(db, { args = ['--no-auth'], basePath = '', port } = {}) {
  const at = port ?? (await freePort());
  const origin = `http://127.0.0.1:${at}`;
  const child = start(db, 'serve', '--listen', `127.0.0.1:${at}`, ...(basePath ? ['--base-path', basePath] : []), ...args);
  const url = `${origin}${basePath}/`;
  await until(`the server is ready: ${child.output()}`, async () => {
    if (child.exitCode !== null) throw new Error(`the server ended: ${child.output()}`);
    return fetch(`${url}readyz`).then((answer) => answer.ok, () => false);
  });
  const call = async (act, body = {}) => {
    const answer = await fetch(`${url}api/v1/${act.replace('.', '/')}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const json = await answer.json();
    if (!answer.ok || json.granted === false) throw new Error(`${act}: ${JSON.stringify(json)}`);
    return json;
  };
  return { url, port: at, child, call };
}

async function startBrowser() {
  browser ??= await chromium.launch({
    executablePath: process.env.CHROMIUM,
    args: [
      '--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
      '--disable-component-update', '--disable-sync',
    ],
  });
  return browser;
}

/** A page with a list of what went wrong on it: errors of the console, exceptions, reports of the policy. */
export async function newPage({ width = 1440, height = 900, theme = 'light' } = {}) {
  const context = await (await startBrowser()).newContext({ viewport: { width, height }, colorScheme: theme, reducedMotion: 'reduce' });
  const page = await context.newPage();
  page.setDefaultTimeout(patience);
  const wrong = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') wrong.push(message.text());
  });
  page.on('pageerror', (error) => wrong.push(String(error)));
  page.on('dialog', (dialog) => {
    wrong.push(`a dialog of the browser: ${dialog.message()}`);
    void dialog.dismiss();
  });
  await page.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', (report) => console.error(`policy: ${report.violatedDirective} ${report.blockedURI}`));
  });
  return { page, wrong, close: () => context.close() };
}

/** Opens an address, and waits until the page is live and has everything. */
export async function open(page, url) {
  await page.goto(url);
  await settled(page);
}

export async function settled(page) {
  await page.waitForSelector('.connection-live');
  await page.waitForFunction(() => document.querySelector('main h1') && !document.querySelector('main .loading'));
}

/** What axe finds wrong, a line per violation. */
export async function violations(page) {
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axeSource);
  const { violations: found } = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
  return found.map((one) => `${one.id}: ${one.nodes.slice(0, 3).map((node) => `${node.target} ${node.failureSummary}`).join(' | ')}`);
}

export const overflow = (page) => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
