// The official client speaks with `leasehold mcp`: every kind of negotiation, every default tool, two agents and a dead one.
//
//   node client.mjs PACKAGES TOOL STORE      STORE must be empty
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const [packages, tool, store] = process.argv.slice(2);
const require = createRequire(`${packages}/package.json`);
const load = (name) => import(pathToFileURL(require.resolve(name)).href);
const { Client } = await load('@modelcontextprotocol/client');
const { StdioClientTransport } = await load('@modelcontextprotocol/client/stdio');

async function connect(options = {}, args = []) {
  const client = new Client({ name: 'check', version: '1' }, options);
  await client.connect(new StdioClientTransport({ command: tool, args: ['mcp', '--db', store, ...args] }));
  return client;
}

async function call(client, name, args = {}) {
  const answer = await client.callTool({ name, arguments: args });
  assert.ok(!answer.isError, `${name}: ${JSON.stringify(answer)}`);
  assert.deepEqual(JSON.parse(answer.content[0].text), answer.structuredContent);
  return answer.structuredContent;
}

async function refused(client, name, args) {
  const answer = await client.callTool({ name, arguments: args });
  assert.ok(answer.isError, `${name}: ${JSON.stringify(answer)}`);
  return answer.content[0].text;
}

/// Each mode of negotiation ends at the same tools.
async function negotiates() {
  const modes = { legacy: {}, auto: { versionNegotiation: { mode: 'auto' } } };
  for (const pin of ['2026-07-28']) modes[pin] = { versionNegotiation: { mode: { pin } } };
  for (const version of ['2025-06-18', '2025-11-25']) modes[version] = { supportedProtocolVersions: [version] };
  for (const [mode, options] of Object.entries(modes)) {
    const client = await connect(options);
    const { tools } = await client.listTools();
    assert.equal(tools.length, 15, mode);
    await call(client, 'overview');
    await client.close();
    console.log(`negotiated: ${mode}`);
  }
  await assert.rejects(connect({ supportedProtocolVersions: ['2025-03-26'] }), /nsupported protocol version/);
}

async function everyToolAnswers() {
  const client = await connect();
  await client.listTools();
  const { session } = await call(client, 'session_open', { label: 'checking', codebase: 'leasehold' });
  await call(client, 'session_update', { session, progress: 'half way' });
  assert.equal((await call(client, 'item_add', { key: 'T-1', title: 'first' })).created, true);
  const added = await call(client, 'item_add', { title: 'second', depends_on: ['T-1'], note: 'after the first' });
  assert.match(added.key, /^item-/);
  assert.equal((await call(client, 'item_list', { state: 'blocked' })).items[0].key, added.key);
  assert.equal((await call(client, 'item_add', { key: 'T-0', title: 'later', priority: -5 })).created, true);
  assert.equal((await call(client, 'item_list', { state: 'open' })).items.length, 2);
  const next = await call(client, 'claim_next', { session });
  assert.equal(next.key, 'T-1');
  assert.equal((await call(client, 'claim_show', { key: 'T-1' })).state, 'claimed');
  assert.equal((await call(client, 'item_done', { key: 'T-1', session, note: 'parsed' })).state, 'done');
  assert.equal((await call(client, 'claim_next', { session })).key, added.key);
  await call(client, 'claim_release', { key: added.key, session });
  assert.match(await refused(client, 'item_done', { key: 'T-0', session, token: 1 }), /^(lost|held)/);
  const taken = await call(client, 'claim_take', { key: added.key, session });
  await call(client, 'claim_release', { key: added.key, token: taken.token });
  assert.equal((await call(client, 'lock_acquire', { name: 'deploy', session })).granted, true);
  await call(client, 'lock_release', { name: 'deploy', session });
  const file = join(tmpdir(), 'leasehold-check', 'a.cc');
  assert.deepEqual((await call(client, 'paths_take', { paths: [file], session })).paths.length, 1);
  assert.equal((await call(client, 'paths_release', { session })).released, 1);
  const { mine } = await call(client, 'overview');
  assert.ok(mine.some((one) => one.session === session));
  await call(client, 'session_close', { session });
  assert.match(await refused(client, 'claim_take', { key: 'T-2', session }), /session/);
  await client.close();
}

/// Two callers on one connection are two owners; a refusal names the other one without its token.
async function subAgentsAreTwoOwners() {
  const client = await connect();
  await client.listTools();
  const first = await call(client, 'claim_take', { key: 'S-1', create: true });
  const second = await call(client, 'claim_take', { key: 'S-1' });
  assert.equal(second.granted, false);
  assert.equal(second.code, 'held');
  assert.notEqual(second.session, first.session);
  assert.equal(second.held_by.token, null);
  assert.ok(second.retry_in_seconds > 0);
  assert.ok(!JSON.stringify(second).includes(first.session.split('.').pop()));
  await call(client, 'lock_acquire', { name: 'release', session: first.session });
  const lock = await call(client, 'lock_acquire', { name: 'release', session: second.session });
  assert.equal(lock.granted, false);
  // A call that waits delays no other.
  const waiting = client.callTool({ name: 'claim_take', arguments: { key: 'S-1', session: second.session, wait_seconds: 30 } });
  const before = Date.now();
  await call(client, 'claim_show', { key: 'S-1' });
  assert.ok(Date.now() - before < 5000);
  await call(client, 'claim_release', { key: 'S-1', session: first.session });
  assert.equal((await waiting).structuredContent.granted, true);
  await client.close();
}

/// The first open item goes to one of two clients that ask at once, and the other one gets the next or none.
async function theNextItemHasOneOwner() {
  const [ann, ben] = [await connect(), await connect()];
  for (const client of [ann, ben]) await client.listTools();
  for (const key of ['N', 'N-1', 'N-2']) await call(ann, 'item_add', { key, title: key, ...(key !== 'N' && { parent: 'N' }) });
  const got = await Promise.all([ann, ben, ann, ben].map((client) => call(client, 'claim_next', { parent: 'N' })));
  assert.deepEqual(got.filter((one) => one.granted).map((one) => one.key).sort(), ['N-1', 'N-2']);
  assert.equal(new Set(got.map((one) => one.session)).size, 4);
  for (const one of got.filter((each) => !each.granted)) {
    assert.ok(['held', 'busy'].includes(one.code), JSON.stringify(one));
    if (one.code === 'held') assert.ok(one.held_by.token === null && one.retry_in_seconds > 0);
  }
  for (const { key, session } of got.filter((one) => one.granted)) await call(ann, 'item_done', { key, session });
  assert.equal((await call(ben, 'claim_next', { parent: 'N' })).code, 'empty');
  for (const client of [ann, ben]) await client.close();
}

/// A folder of one client blocks the files in it for the other, all or none, until the first gives it back.
async function pathsHaveOneOwner() {
  const [ann, ben] = [await connect(), await connect()];
  for (const client of [ann, ben]) await client.listTools();
  const folder = join(tmpdir(), 'leasehold-check');
  const [src, file, other] = [join(folder, 'src'), join(folder, 'src', 'a.cc'), join(folder, 'b.cc')];
  const first = await call(ann, 'paths_take', { paths: [src] });
  assert.equal(first.granted, true);
  const second = await call(ben, 'paths_take', { paths: [other, file] });
  assert.equal(second.granted, false);
  assert.equal(second.code, 'held');
  assert.equal(second.held_by.key, first.paths[0]);
  assert.ok(second.held_by.token === null && second.retry_in_seconds > 0);
  assert.ok(!JSON.stringify(second).includes(first.session.split('.').pop()));
  // None: what was free is still free for a third one.
  const third = await call(ann, 'paths_take', { paths: [other] });
  assert.equal(third.granted, true);
  assert.notEqual(third.session, first.session);
  assert.equal((await call(ann, 'paths_release', { session: third.session })).released, 1);
  assert.equal((await call(ann, 'paths_release', { session: first.session, paths: [src] })).released, 1);
  const again = await call(ben, 'paths_take', { paths: [other, file], session: second.session });
  assert.equal(again.paths.length, 2);
  await call(ben, 'session_close', { session: second.session });
  assert.equal((await call(ann, 'paths_take', { paths: [folder], session: first.session })).granted, true);
  await call(ann, 'session_close', { session: first.session });
  for (const client of [ann, ben]) await client.close();
}

/// kill -9 of an agent frees its item at once; a server that starts again goes on with a handle.
async function aDeadAgentLosesItsItem() {
  const agent = spawn('node', [join(dirname(fileURLToPath(import.meta.url)), 'agent.mjs'), packages, tool, store, 'K-1'],
    { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = await once(agent.stdout, 'data');
  assert.equal(JSON.parse(line).granted, true);
  let client = await connect();
  await client.listTools();
  const { session } = await call(client, 'session_open', { label: 'survivor' });
  assert.equal((await call(client, 'claim_take', { key: 'K-1', session })).granted, false);
  agent.kill('SIGKILL');
  await once(agent, 'exit');
  const before = Date.now();
  assert.equal((await call(client, 'claim_take', { key: 'K-1', session })).granted, true);
  console.log(`taken over after ${Date.now() - before} ms`);
  await client.close();
  client = await connect();
  assert.ok((await call(client, 'overview')).mine.some((one) => one.session === session), 'found again');
  await call(client, 'session_update', { session, progress: 'after a restart' });
  assert.equal((await call(client, 'item_done', { key: 'K-1', session })).state, 'done');
  await call(client, 'session_close', { session });
  await client.close();
}

async function optInToolsets() {
  const client = await connect({}, ['--tools', 'jobs,chunks,schedules,rows']);
  const { tools } = await client.listTools();
  assert.ok(tools.length > 35);
  await call(client, 'job_enqueue', { queue: 'mail', payload: { to: 'ann' } });
  const claimed = await call(client, 'job_claim', { queue: 'mail' });
  assert.deepEqual(claimed.jobs[0].payload, { to: 'ann' });
  assert.equal((await call(client, 'job_claim', { queue: 'mail' })).code, 'empty');
  await call(client, 'job_complete', { id: claimed.jobs[0].id, token: claimed.jobs[0].token });
  assert.match(await refused(client, 'job_heartbeat', { id: claimed.jobs[0].id, token: 1 }), /^lost: .*stop working/);
  await client.close();
}

for (const check of [negotiates, everyToolAnswers, subAgentsAreTwoOwners, theNextItemHasOneOwner, pathsHaveOneOwner,
  aDeadAgentLosesItsItem, optInToolsets]) {
  await check();
  console.log(`ok: ${check.name}`);
}
