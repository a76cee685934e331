// Adopted tables: the list with its counts, one of them opened, its rows filtered.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { nasty } from './fill.mjs';
import { newPage, newStore, open, overflow, run, serve, settled, violations } from './support.mjs';

const create = `
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute("CREATE TABLE imports (id INTEGER PRIMARY KEY, status TEXT NOT NULL DEFAULT 'NEW', name TEXT)")
db.executemany("INSERT INTO imports (name) VALUES (?)", [(sys.argv[2],)] * 4)
db.commit()`;

const description = `
[main.imports]
shape       = "work"
ttl         = "10m"
claimable   = "status <> 'DONE'"
final       = { completed = "status = 'DONE'" }
on_claim    = "status = 'RUNNING'"
on_complete = "status = 'DONE'"
on_expire   = "status = 'NEW'"
`;

/** A store beside a table with two held rows, one done and one free. */
async function adopted() {
  const db = newStore();
  const path = db.slice('sqlite:'.length).split('?')[0];
  execFileSync('python3', ['-c', create, path, nasty]);
  writeFileSync(`${path}.toml`, description);
  await run(db, 'adopt', 'apply', `${path}.toml`);
  const server = await serve(db);
  const { items } = await server.call('row.claim', { table: 'imports', max: 3, holder: 'importer-1' });
  await server.call('row.complete', { table: 'imports', key: items[0].key, token: items[0].token });
  return server;
}

test('the adopted tables are listed with their counts, and one opens', async () => {
  const server = await adopted();
  const { page, wrong, close } = await newPage();
  await open(page, `${server.url}rows`);
  const row = page.locator('tr', { hasText: 'main.imports' });
  await row.waitFor();
  const cells = await row.locator('td').allTextContents();
  assert.deepEqual(cells.slice(3), ['2', '0', '1', '0']);
  await row.getByRole('link', { name: '2' }).click();
  await page.waitForURL(/rows\?table=main\.imports&state=running/);
  await page.locator('tr', { hasText: 'importer-1' }).nth(1).waitFor();
  assert.equal(await page.locator('tbody tr').count(), 2);
  assert.equal(await page.locator('main img, main script').count(), 0);
  await page.getByRole('link', { name: 'All adopted tables' }).click();
  await page.getByRole('link', { name: 'main.imports' }).click();
  await page.locator('tr', { hasText: 'available' }).waitFor();
  assert.equal(await page.locator('tbody tr').count(), 4);
  assert.deepEqual(wrong, []);
  await close();
});

test('the list and a table are accessible, in both themes and three widths', async () => {
  const server = await adopted();
  const { page, wrong, close } = await newPage();
  const found = [];
  for (const address of ['rows', 'rows?table=main.imports']) {
    await open(page, server.url + address);
    for (const width of [1440, 1024, 390]) {
      await page.setViewportSize({ width, height: 900 });
      for (const theme of ['light', 'dark']) {
        await page.emulateMedia({ colorScheme: theme });
        await settled(page);
        const where = `/${address} at ${width}, ${theme}`;
        for (const one of await violations(page)) found.push(`${where}: ${one}`);
        if ((await overflow(page)) > 0) found.push(`${where} scrolls sideways`);
      }
    }
  }
  assert.deepEqual([...found, ...wrong], []);
  await close();
});
