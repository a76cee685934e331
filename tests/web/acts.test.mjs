// Acts on the page: with the keyboard alone, on many jobs at once, after a login, and none on a read-only server.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newPage, newStore, open, run, serve, settled } from './support.mjs';

test('with the keyboard alone: pages, search, rows, revoke, help', async () => {
  const server = await serve(newStore());
  for (const name of ['backup', 'deploy']) await server.call('lock.acquire', { name, ttl_seconds: 600, holder: 'alice' });
  const { page, wrong, close } = await newPage();
  const press = (...keys) => keys.reduce((before, key) => before.then(() => page.keyboard.press(key)), Promise.resolve());
  await open(page, server.url);
  await press('g', 'l');
  await page.getByRole('heading', { name: 'Leases', level: 1 }).waitFor();
  await press('?');
  await page.getByRole('dialog').getByText('Next row, previous row').waitFor();
  await press('Escape');
  await page.waitForSelector('dialog', { state: 'detached' });
  await press('/');
  await page.keyboard.type('deploy');
  await page.waitForURL(/q=deploy/);
  await page.locator('tr', { hasText: 'backup' }).waitFor({ state: 'detached' });
  await press('Escape', 'j');
  assert.equal(await page.evaluate(() => document.activeElement.dataset.row), 'lock/deploy');
  await page.keyboard.press('Tab'); // the link of the row
  while (!/Revoke/.test(await page.evaluate(() => document.activeElement.getAttribute('aria-label') ?? ''))) await press('Tab');
  await press('Enter');
  await page.getByRole('dialog').waitFor();
  await page.keyboard.type('on holiday');
  await press('Enter');
  await page.getByText('lock deploy: revoked').waitFor();
  const { items } = await server.call('event.list', { key: 'deploy' });
  assert.equal(items.at(-1).what, 'revoked');
  assert.equal(items.at(-1).detail, 'on holiday');
  await press('g', 'q');
  await page.getByRole('heading', { name: 'Queues', level: 1 }).waitFor();
  assert.deepEqual(wrong, []);
  await close();
});

test('a row is chosen with x and opened with Enter', async () => {
  const server = await serve(newStore());
  await server.call('job.enqueue_all', { queue: 'mail', jobs: [{}, {}, {}] });
  const { page, close } = await newPage();
  await open(page, `${server.url}jobs`);
  for (const key of ['j', 'x', 'j', 'x']) await page.keyboard.press(key);
  await page.getByText('2 jobs chosen').waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Job 2' }).waitFor();
  await close();
});

test('an act on all that match counts first, and changes just these', async () => {
  const server = await serve(newStore());
  await server.call('job.enqueue_all', { queue: 'mail', jobs: Array.from({ length: 120 }, () => ({})) });
  await server.call('job.enqueue_all', { queue: 'other', jobs: [{}, {}] });
  const { page, wrong, close } = await newPage();
  await open(page, `${server.url}jobs?queue=mail`);
  await page.getByRole('button', { name: 'Cancel all that match' }).click();
  await page.getByRole('heading', { name: 'Cancel 120 jobs?' }).waitFor();
  assert.equal((await server.call('queue.show', { name: 'mail' })).available, 120, 'nothing happens before the answer');
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel 120 jobs' }).click();
  await page.getByText('120 jobs cancelled').waitFor();
  assert.equal((await server.call('queue.show', { name: 'mail' })).available, 0);
  assert.equal((await server.call('queue.show', { name: 'other' })).available, 2);
  assert.deepEqual(wrong, []);
  await close();
});

test('a failed job is found by the text of its payload, retried, and enqueued again', async () => {
  const server = await serve(newStore());
  await server.call('job.enqueue', { queue: 'mail', payload: { to: 'zoe@example.com' }, max_failures: 1 });
  const { jobs, token } = await server.call('job.claim', { queue: 'mail', holder: 'w' });
  await server.call('job.fail', { id: jobs[0].id, token, error: 'refused' });
  const { page, close } = await newPage();
  await open(page, `${server.url}jobs?text=zoe`);
  await page.getByRole('link', { name: String(jobs[0].id), exact: true }).click();
  await page.getByText('zoe@example.com').waitFor();
  await page.getByRole('button', { name: 'Retry now' }).click();
  await page.locator('.sub .state', { hasText: 'available' }).waitFor();
  assert.equal((await server.call('job.show', { id: jobs[0].id })).state, 'available');
  await close();
});

test('a read-only server under a base path shows everything and offers nothing', async () => {
  const db = newStore();
  const writer = await serve(db);
  await writer.call('lock.acquire', { name: 'deploy', ttl_seconds: 600, holder: 'alice' });
  const server = await serve(db, { args: ['--no-auth', '--read-only'], basePath: '/lease' });
  const { page, wrong, close } = await newPage();
  await open(page, `${server.url}leases`);
  await page.getByText('read-only', { exact: true }).waitFor();
  const revoke = page.getByRole('button', { name: 'Revoke lock deploy' });
  assert.ok(await revoke.isDisabled());
  assert.equal(await revoke.getAttribute('title'), 'this server is read-only');
  await page.getByRole('link', { name: /Queues/ }).first().click();
  await page.getByRole('heading', { name: 'Queues', level: 1 }).waitFor();
  assert.ok(page.url().endsWith('/lease/queues'), page.url());
  assert.deepEqual(wrong, []);
  await close();
});

test('a login with a token, and what its scope allows', async () => {
  const db = newStore();
  await run(db, 'queue', 'set', 'mail', '--max-running', '1');
  const { secret } = JSON.parse(await run(db, 'token', 'create', 'viewer', '--scope', 'read', '--json'));
  const server = await serve(db, { args: [] });
  const { page, close } = await newPage();
  await page.goto(`${server.url}queues`);
  const field = page.getByLabel('Token');
  await field.fill('lht_wrong');
  await page.keyboard.press('Enter');
  await page.getByRole('alert').waitFor();
  await field.fill(secret);
  await page.keyboard.press('Enter');
  await settled(page);
  const pause = page.getByRole('button', { name: 'Pause mail' });
  await pause.waitFor();
  await page.waitForFunction(() => document.querySelector('button[aria-label="Pause mail"]')?.disabled);
  assert.match(await pause.getAttribute('title'), /needs a token of scope admin; yours has read/);
  await page.getByRole('button', { name: 'Log out viewer' }).click();
  await field.waitFor();
  await close();
});
