// `leasehold demo --serve` as a reader sees it: who took over from whom, why and after how long; and at the end the page counts
// what the verdict counts.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { freePort, newPage, open, settled, start, until } from './support.mjs';

test('the story of the demo is readable, and the page agrees with its verdict', { timeout: 240_000 }, async () => {
  const demo = start(null, 'demo', '--jobs', '200', '--workers', '10', '--seed', '7', `--serve=127.0.0.1:${await freePort()}`);
  try {
    await until('the demo prints its link', () => demo.output().includes('watch the workers die: '));
    const link = /watch the workers die: (\S+)/.exec(demo.output())[1];
    assert.match(link, /leases\?by=holder$/, 'it opens the view that shows the story best');
    const origin = link.slice(0, link.indexOf('leases'));
    const { page, wrong, close } = await newPage();
    await open(page, link);
    const kinds = new Set();
    await until('a takeover of each kind is on the page', async () => {
      for (const text of await page.locator('.story-why').allInnerTexts()) {
        const [, cause, gap] = /^(process gone|lease ran out)[\s\S]*?(at once|\d+(?:\.\d)? m?s)\s*$/.exec(text) ?? [];
        if (gap) kinds.add(cause);
      }
      return kinds.size === 2 || demo.exitCode !== null;
    }, 120_000);
    assert.deepEqual([...kinds].sort(), ['lease ran out', 'process gone']);
    assert.ok((await page.locator('.takeover').count()) > 0, 'the arrows stand apart');
    assert.ok((await page.locator('.takeover-label').count()) > 0, 'causes and gaps stand beside them');
    await until('the demo ends', () => /^(PASS|FAIL)/m.test(demo.output()), 120_000);
    assert.match(demo.output(), /^PASS/m);
    const done = /jobs done\s+(\d+)/.exec(demo.output())[1];
    assert.equal(done, '200');
    await open(page, `${origin}queue?name=demo`);
    await page.locator('.fact', { hasText: 'completed in all' }).getByText(done, { exact: true }).waitFor();
    await open(page, origin);
    await page.locator('.tile', { hasText: 'Done per minute' }).getByText(`${done} in all`).waitFor();
    await settled(page);
    assert.deepEqual(wrong, []);
    await close();
  } finally {
    // Its server ends with it.
    demo.kill('SIGINT');
    await demo.ended;
  }
});
