// Runs all measurements of the peers and their configurations, and writes a JSON line for each. bench/peers/run starts
// it; its comment explains the options.
import { appendFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

import { load, names } from '../runners/index.mjs';
import { measure } from './measures.mjs';
import { Servers } from './servers.mjs';
import { versions } from './versions.mjs';

const { values: options } = parseArgs({
  options: {
    jobs: { type: 'string', default: '100000' },
    only: { type: 'string', multiple: true, default: [] },
    config: { type: 'string', multiple: true, default: [] },
    what: { type: 'string', multiple: true, default: [] },
    rounds: { type: 'string', default: '1' },
    seconds: { type: 'string', default: '60' },
    'latency-jobs': { type: 'string', default: '200' },
    postgres: { type: 'string' },
    out: { type: 'string' },
    list: { type: 'boolean', default: false },
  },
});

function fail(message) {
  console.error(`run: ${message}`);
  process.exit(2);
}

function count(option) {
  const number = Number(options[option]);
  if (!Number.isInteger(number) || number < 1) fail(`--${option} wants a number above 0, not ${options[option]}`);
  return number;
}

function wantedPeers() {
  for (const name of options.only) {
    if (!names.includes(name)) fail(`there is no peer ${name}; there are ${names.join(', ')}`);
  }
  return options.only.length ? options.only : names;
}

/** Whether an option that may be given several times names this, or was not given. */
function asked(option, name) {
  return !options[option].length || options[option].includes(name);
}

/** Every [peer, configuration, measurement] that was asked for. */
async function* plan() {
  for (const name of wantedPeers()) {
    const runner = await load(name);
    for (const [config, settings] of Object.entries(runner.configs)) {
      if (!asked('config', config)) continue;
      for (const task of settings.measurements.filter(({ what }) => asked('what', what))) {
        yield { runner, config, settings, task };
      }
    }
  }
}

async function list() {
  let last = null;
  for await (const { runner, config, settings, task } of plan()) {
    if (settings !== last) console.log(`${runner.name} (${config}): ${settings.about}`);
    last = settings;
    const detail = task.processes ? `, ${task.processes} process${task.processes > 1 ? 'es' : ''}` : '';
    console.log(`  ${task.what}${detail}`);
  }
}

async function one(servers, { runner, config, settings, task }) {
  const place = await servers.place(runner.store, settings);
  const line = { peer: runner.name, config, store: runner.store, what: task.what };
  try {
    const limits = { jobs: count('jobs'), seconds: count('seconds'), latencyJobs: count('latency-jobs') };
    Object.assign(line, await measure({ runner, config, settings, task, place, limits }));
  } catch (error) {
    // A failure of one peer must not cost the figures of the others.
    line.error = error.message;
    console.error(`${runner.name} (${config}) ${task.what}: ${error.stack}`);
  } finally {
    await place.discard();
  }
  return { ...line, about: settings.about, durability: place.durability, versions: versions(runner, place) };
}

async function main() {
  if (options.list) return list();
  if (!options.out) fail('--out FILE.jsonl is missing');
  const rounds = count('rounds');
  const servers = new Servers(options.postgres);
  const leave = (code) => {
    servers.stop();
    process.exit(code);
  };
  process.once('SIGINT', () => leave(130));
  process.once('SIGTERM', () => leave(143));
  process.once('uncaughtException', (error) => {
    console.error(error);
    leave(1);
  });
  try {
    for (let round = 1; round <= rounds; round++) {
      for await (const step of plan()) {
        const text = JSON.stringify({ ...(await one(servers, step)), round });
        appendFileSync(options.out, `${text}\n`);
        console.log(text);
      }
    }
  } finally {
    servers.stop();
  }
}

await main();
// Some peers leave timers behind that would keep this process alive for minutes.
process.exit(0);
