// Every page in both themes and three widths: nothing that axe objects to, no error, no report of the policy, no sideways scroll.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { fill, nasty } from './fill.mjs';
import { newPage, newStore, open, overflow, serve, settled, violations } from './support.mjs';

let server;
let made;
before(async () => {
  server = await serve(newStore());
  made = await fill(server.call);
});

const addresses = () => [
  '', 'leases', 'leases?by=holder', 'leases?q=nothing', 'queues', 'queue?name=mail', 'jobs', 'jobs?state=failed', `job?id=${made.failedJob}`,
  `job?id=${made.runningJob}`, 'syncs', `sync?name=orders&chunk=${made.chunk}`, 'backlog', 'schedules', 'schedule?name=refresh', 'rows', 'store',
];

test('every page is accessible and quiet, in both themes and three widths', async () => {
  const { page, wrong, close } = await newPage();
  const found = [];
  for (const address of addresses()) {
    await page.setViewportSize({ width: 1440, height: 900 });
    await open(page, server.url + address);
    for (const width of [1440, 1024, 390]) {
      await page.setViewportSize({ width, height: 900 });
      for (const theme of ['light', 'dark']) {
        await page.emulateMedia({ colorScheme: theme });
        await settled(page);
        const where = `/${address} at ${width}, ${theme}`;
        for (const one of await violations(page)) found.push(`${where}: ${one}`);
        if ((await overflow(page)) > 0) found.push(`${where} scrolls sideways`);
        for (const one of wrong.splice(0)) found.push(`${where}: ${one}`);
      }
    }
  }
  assert.deepEqual(found, []);
  await close();
});

test('markup in names is text', async () => {
  const { page, wrong, close } = await newPage();
  await open(page, `${server.url}leases`);
  await page.getByText(nasty).first().waitFor();
  assert.equal(await page.locator('main img, main script').count(), 0);
  await open(page, `${server.url}backlog`);
  await page.getByText(`Parse ${nasty}`).first().waitFor();
  assert.equal(await page.locator('main img, main script').count(), 0);
  assert.deepEqual(wrong, []);
  await close();
});

test('an empty store shows the commands that fill it', async () => {
  const { url } = await serve(newStore());
  const { page, wrong, close } = await newPage({ width: 390 });
  for (const [address, command] of [
    ['leases', 'leasehold lock run'], ['queues', 'leasehold job add'], ['jobs', 'leasehold job add'], ['syncs', 'leasehold chunk plan'],
    ['backlog', 'leasehold session run'], ['schedules', 'leasehold schedule run'], ['rows', 'leasehold adopt'],
  ]) {
    await open(page, url + address);
    await page.locator('main .command', { hasText: command }).first().waitFor();
    assert.deepEqual(await violations(page), [], address);
  }
  assert.deepEqual(wrong, []);
  await close();
});

test('large numbers do not widen a page', async () => {
  const { url, call } = await serve(newStore());
  const jobs = Array.from({ length: 1000 }, () => ({ payload: {} }));
  for (let i = 0; i < 15; i += 1) await call('job.enqueue_all', { queue: 'demo', jobs });
  for (let i = 0; i < 119; i += 1) await call('job.claim', { queue: 'demo', ttl_seconds: 600, holder: `worker-${i}` });
  const { page, close } = await newPage({ width: 390 });
  const found = [];
  for (const address of ['', 'queues', 'queue?name=demo', 'jobs', 'leases', 'leases?by=holder', 'store']) {
    await open(page, url + address);
    if (address === '') await page.getByText(/119 running · 14.9k available · oldest/).waitFor();
    if (address === 'jobs') await page.getByText('The first 50 jobs').waitFor();
    if ((await overflow(page)) > 0) found.push(`/${address} scrolls sideways`);
  }
  assert.deepEqual(found, []);
  await open(page, url);
  await page.locator('.tile', { hasText: 'Workers' }).getByText('119', { exact: true }).waitFor();
  await close();
});

test('an empty result names the filter to drop', async () => {
  const { page, close } = await newPage();
  await open(page, `${server.url}leases?q=nothing&kind=lock`);
  await page.getByRole('button', { name: 'q: nothing' }).click();
  await page.locator('tr', { hasText: 'deploy' }).waitFor();
  assert.ok(page.url().endsWith('leases?kind=lock'), page.url());
  await close();
});
