// An agent that claims an item through `leasehold mcp`, prints what it got, and then lives until it is killed.
//
//   node agent.mjs PACKAGES TOOL STORE KEY
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const [packages, tool, store, key] = process.argv.slice(2);
const require = createRequire(`${packages}/package.json`);
const load = (name) => import(pathToFileURL(require.resolve(name)).href);
const { Client } = await load('@modelcontextprotocol/client');
const { StdioClientTransport } = await load('@modelcontextprotocol/client/stdio');

const client = new Client({ name: 'agent', version: '1' });
await client.connect(new StdioClientTransport({ command: tool, args: ['mcp', '--db', store] }));
const answer = await client.callTool({ name: 'claim_take', arguments: { key, create: true } });
console.log(JSON.stringify(answer.structuredContent));
setInterval(() => {}, 1000);
