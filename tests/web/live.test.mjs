// Real processes that are killed with -9: the page shows each takeover: the old and the new holder, the reason, and the delay.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newPage, newStore, open, run, serve, settled, start } from './support.mjs';

const arrow = (from, to) => `.takeover[data-from="${from}"][data-to="${to}"]`;

test('a killed holder of a lock: the arrow has both names, the cause and the gap', async () => {
  const db = newStore();
  const server = await serve(db);
  const { page, wrong, close } = await newPage();
  await open(page, `${server.url}leases?window=60`);
  const alice = start(db, 'lock', 'run', 'deploy', '--holder', 'alice', '--ttl', '8s', '--', 'sleep', '600');
  const row = page.locator('tr', { hasText: 'deploy' });
  await row.getByText('alice').waitFor();
  const bob = start(db, 'lock', 'run', 'deploy', '--holder', 'bob', '--wait', '1m', '--', 'sleep', '600');
  await row.locator('.waiters', { hasText: '1' }).waitFor();
  await alice.die();
  // Sees at once that the process is gone, as any worker on this host does; else bob gets it when the lease has run out.
  await run(db, 'recover');
  await page.waitForSelector(arrow('alice', 'bob'), { state: 'attached' });
  const story = page.locator('.story', { hasText: 'deploy' }).first();
  assert.match(await story.innerText(), /alice[\s\S]*process gone[\s\S]*\d+(\.\d)? m?s[\s\S]*bob/);
  await row.getByText('bob').waitFor();
  assert.deepEqual(wrong, []);
  await bob.die();
  await close();
});

test('a killed worker: its job goes to the other one, and the timeline says so by key and by holder', async () => {
  const db = newStore();
  const server = await serve(db);
  await run(db, 'job', 'add', 'mail', '{"to":"ann"}');
  const { page, wrong, close } = await newPage();
  await open(page, `${server.url}leases?window=60`);
  const first = start(db, 'work', 'mail', '--holder', 'worker-1', '--', 'sleep', '600');
  await page.locator('tr', { hasText: 'worker-1' }).waitFor();
  await first.die();
  const second = start(db, 'work', 'mail', '--holder', 'worker-2', '--', 'sleep', '600');
  await page.waitForSelector(arrow('worker-1', 'worker-2'), { state: 'attached' });
  await page.getByRole('button', { name: 'by holder' }).click();
  await page.waitForSelector(arrow('worker-1', 'worker-2'), { state: 'attached' });
  await page.locator('tr', { hasText: 'worker-2' }).locator('.row-open').click();
  await page.getByText(/taken over from worker-1 after/).waitFor();
  assert.deepEqual(wrong, []);
  await second.die();
  await close();
});

test('a server that is restarted: the page goes on, and has what happened meanwhile', async () => {
  const db = newStore();
  const server = await serve(db);
  const { page, close } = await newPage();
  await open(page, `${server.url}store`);
  await server.child.die();
  await page.waitForSelector('.connection-lost');
  await run(db, 'lock', 'acquire', 'meanwhile', '--ttl', '10m');
  await serve(db, { port: server.port });
  await page.waitForSelector('.connection-live');
  await page.locator('.events li', { hasText: 'meanwhile' }).first().waitFor();
  await close();
});

test('a hidden page closes its stream, and opens it again', async () => {
  const server = await serve(newStore());
  await server.call('lock.acquire', { name: 'before', ttl_seconds: 600, holder: 'ann' });
  const { page, close } = await newPage();
  await open(page, `${server.url}leases`);
  const hide = (hidden) =>
    page.evaluate((value) => {
      Object.defineProperty(document, 'hidden', { value, configurable: true });
      document.dispatchEvent(new Event('visibilitychange'));
    }, hidden);
  await hide(true);
  await page.waitForSelector('.connection-resting');
  await server.call('lock.acquire', { name: 'later', ttl_seconds: 600, holder: 'ann' });
  await hide(false);
  await settled(page);
  await page.locator('tr', { hasText: 'later' }).waitFor();
  await close();
});
