// A worker process of one peer. Takes its orders from fleet.mjs, and reports ready, handled, delays, error, stopped.
import { load } from '../runners/index.mjs';
import { now } from './clock.mjs';

const reportIntervalMs = 5;
let handled = 0;
let reported = 0;
const delays = [];
let worker;

function send(facts) {
  if (process.connected) process.send(facts, () => {});
}

function onJob(payload) {
  handled++;
  if (payload?.at) delays.push(now() - payload.at);
}

function report() {
  if (handled === reported) return;
  reported = handled;
  send({ handled });
}

async function prepare({ runner: name, config, place, what }) {
  const runner = await load(name);
  worker = await runner.worker({ place, settings: runner.configs[config], what, onJob });
  setInterval(report, reportIntervalMs);
  send({ ready: true });
}

async function stop() {
  report();
  await worker?.stop();
  send({ delays, stopped: true });
  // The channel has to deliver that first.
  setTimeout(() => process.exit(0), 50);
}

async function obey(order) {
  if (order.prepare) await prepare(order.prepare);
  if (order.begin) await worker.begin();
  if (order.stop) await stop();
}

function giveUp(error) {
  send({ error: error?.stack ?? String(error) });
  setTimeout(() => process.exit(1), 50);
}

process.on('message', (order) => obey(order).catch(giveUp));
process.on('unhandledRejection', giveUp);
process.on('uncaughtException', giveUp);
process.on('disconnect', () => process.exit(0));
