// Real processes that are killed with -9: the page shows each takeover: the old and the new holder, the reason, and the delay.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newPage, newStore, open, run, serve, settled, start, violations } from './support.mjs';

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
  assert.match(await story.innerText(), /alice[\s\S]*process gone[\s\S]*(at once|\d+(\.\d)? m?s)[\s\S]*bob/);
  await row.getByText('bob').waitFor();
  assert.deepEqual(wrong, []);
  await bob.die();
  await close();
});

test('an arrow is there within a second of the takeover', async () => {
  const db = newStore();
  const server = await serve(db);
  const { page, close } = await newPage();
  await open(page, `${server.url}leases?window=60`);
  // A busy machine may delay one of them: the page is as fast as its fastest.
  let fastest = Infinity;
  for (let round = 1; round <= 3 && fastest > 1000; round += 1) {
    const lock = `deploy-${round}`;
    const first = start(db, 'lock', 'run', lock, '--holder', `first-${round}`, '--ttl', '30s', '--', 'sleep', '600');
    await page.locator('tr', { hasText: `first-${round}` }).waitFor();
    const second = start(db, 'lock', 'run', lock, '--holder', `second-${round}`, '--wait', '1m', '--', 'sleep', '600');
    await page.locator('tr', { hasText: lock }).locator('.waiters').waitFor();
    await page.evaluate(
      (wanted) => {
        const look = () => (document.querySelector(wanted) ? (window.seenAt = Date.now()) : setTimeout(look, 10));
        look();
      },
      arrow(`first-${round}`, `second-${round}`),
    );
    await first.die();
    await run(db, 'recover');
    await page.waitForFunction(() => window.seenAt);
    const { items } = await server.call('event.list', { key: lock, max: 20 });
    const taken = items.find((event) => event.what === 'acquired' && event.holder.name === `second-${round}`);
    // The page and the store have the clock of one machine.
    fastest = Math.min(fastest, await page.evaluate((at) => window.seenAt - at, Date.parse(taken.at)));
    await page.evaluate(() => delete window.seenAt);
    await second.die();
  }
  assert.ok(fastest < 1000, `the arrow came ${fastest} ms after the event`);
  await close();
});

test('leases that stayed free before they were taken over: a page that is loaded later says for how long', async () => {
  const server = await serve(newStore());
  const { call } = server;
  await call('chunk.plan_range', { set: 'orders', first: 1, last: 10, size: 10 });
  await call('job.enqueue', { queue: 'mail', payload: {} });
  const grants = (who, ttl_seconds) =>
    Promise.all([
      call('lock.acquire', { name: 'deploy', ttl_seconds, holder: who }),
      call('chunk.claim', { set: 'orders', ttl_seconds, holder: who }),
      call('job.claim', { queue: 'mail', ttl_seconds, holder: who }),
    ]);
  await grants('ann', 1);
  await new Promise((resolve) => setTimeout(resolve, 6000));
  await grants('ben', 600);
  const { page, wrong, close } = await newPage();
  await open(page, `${server.url}leases`);
  const { items } = await call('lease.history', { max: 50 });
  for (const [kind, key] of [['lock', 'deploy'], ['chunk', 'orders'], ['job', 'mail']]) {
    const told = items.find((grant) => grant.kind === kind && grant.taken_from);
    assert.ok(told.gap_seconds > 4.5, `${kind}: ${told.gap_seconds}`);
    const story = page.locator('.story', { has: page.locator('b', { hasText: key }) });
    await story.locator('.story-gap', { hasText: 's' }).waitFor();
    const shown = /^(\d\.\d) s$/.exec(await story.locator('.story-gap').innerText());
    assert.ok(shown && Math.abs(Number(shown[1]) - told.gap_seconds) < 0.11, `${kind}: the page says ${shown?.[0]}, the store ${told.gap_seconds}`);
  }
  assert.deepEqual(wrong, []);
  await close();
});

test('a takeover while the page loads: the events before it arrive late, and no bar stays open', async () => {
  const { url, call } = await serve(newStore());
  await call('lock.acquire', { name: 'deploy', ttl_seconds: 0.5, holder: 'ann' });
  const { page, close } = await newPage();
  await page.route('**/api/v1/event/list', async (route) => {
    const answer = await route.fetch();
    await new Promise((resolve) => setTimeout(resolve, 1500));
    await call('lock.acquire', { name: 'deploy', ttl_seconds: 600, holder: 'ben' });
    await new Promise((resolve) => setTimeout(resolve, 1500));
    await route.fulfill({ response: answer });
  }, { times: 1 });
  await open(page, `${url}leases`);
  await page.waitForSelector(arrow('ann', 'ben'), { state: 'attached' });
  assert.equal(await page.locator('.grant').count(), 2);
  assert.equal(await page.locator('.grant-live').count(), 1);
  await close();
});

test('a lease that expired says so in every column, and on the timeline', async () => {
  const server = await serve(newStore());
  await server.call('lock.acquire', { name: 'deploy', ttl_seconds: 2, holder: 'ann' });
  const { page, close } = await newPage();
  await open(page, `${server.url}leases`);
  const row = page.locator('tr', { hasText: 'deploy' });
  const states = await page.evaluate(
    () =>
      new Promise((resolve) => {
        const look = () => {
          const text = document.querySelector('main tbody tr').innerText;
          if (/expired \d/.test(text)) resolve(text);
          else requestAnimationFrame(look);
        };
        look();
      }),
  );
  assert.doesNotMatch(states, /held/, 'it is held and expired');
  await row.locator('.state', { hasText: 'expired' }).waitFor();
  await page.locator('.idle-words', { hasText: /free for|not taken/ }).waitFor();
  assert.equal(await page.locator('.grant-live').count(), 0);
  assert.equal(await page.locator('.death').count(), 1);
  await close();
});

test('takeovers that are too close become one button, which shows them larger', async () => {
  const server = await serve(newStore());
  const { page, wrong, close } = await newPage();
  await server.call('job.enqueue_all', { queue: 'demo', jobs: [{ payload: {}, max_crashes: 1000 }] });
  for (let i = 0; i < 9; i += 1) {
    await server.call('job.claim', { queue: 'demo', ttl_seconds: 0.1, holder: `worker-${i}` });
    await new Promise((resolve) => setTimeout(resolve, 150));
  }
  await open(page, `${server.url}leases?window=1800`);
  const mark = page.locator('.crowd', { hasText: '8 takeovers' });
  await mark.focus();
  assert.deepEqual(await violations(page), []);
  const left = await mark.evaluate((button) => button.style.left);
  await page.waitForFunction((before) => document.querySelector('.crowd').style.left !== before, left);
  await page.keyboard.press('Enter'); // the button keeps the focus while the timeline moves
  await page.waitForSelector(arrow('worker-3', 'worker-4'), { state: 'attached' });
  assert.match(page.url(), /at=/);
  await page.getByRole('button', { name: 'Back to now' }).click();
  assert.doesNotMatch(page.url(), /at=/);
  assert.deepEqual(wrong, []);
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
