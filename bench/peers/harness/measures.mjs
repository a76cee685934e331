// The measurements, the same for every peer. A runner with a better way (raw SQL through pgbench) brings a function of
// its own, under the same name.
import { now, sleep, until } from './clock.mjs';
import { Fleet } from './fleet.mjs';
import { rate, round } from './measurements.mjs';
import { sessionCount } from '../runners/postgres.mjs';

const bulkSize = 1000;

export async function measure(trial) {
  const seconds = Math.min(trial.limits.seconds, trial.settings.limitSeconds ?? Infinity);
  const limited = { ...trial, limits: { ...trial.limits, seconds } };
  await trial.runner.prepare(trial.place.address, trial.settings);
  const own = trial.runner.own?.[trial.task.what];
  return own ? own(limited) : ways[trial.task.what](limited);
}

/** One caller that waits for each job's answer before it sends the next. */
async function measureEnqueueSingle({ runner, settings, place, limits }) {
  const wanted = Math.max(1, Math.floor(limits.jobs / 10));
  const producer = await runner.producer(place.address, settings);
  await producer.one({ n: 0 });
  const start = now();
  const deadline = start + limits.seconds * 1000;
  let done = 0;
  while (done < wanted && now() < deadline) await producer.one({ n: ++done });
  const result = rate(done, now() - start);
  await producer.close();
  return result;
}

function* chunks(jobs, size) {
  for (let first = 0; first < jobs; first += size) {
    yield Array.from({ length: Math.min(size, jobs - first) }, (_, index) => ({ n: first + index }));
  }
}

/** Through the peer's own call for many jobs, in chunks of the size it likes best. */
async function enqueueMany({ runner, settings, place, limits }) {
  const producer = await runner.producer(place.address, settings);
  const start = now();
  const deadline = start + limits.seconds * 1000;
  let done = 0;
  for (const chunk of chunks(limits.jobs, settings.bulkSize ?? bulkSize)) {
    if (now() >= deadline) break;
    await producer.many(chunk);
    done += chunk.length;
  }
  const result = rate(done, now() - start);
  await producer.close();
  return result;
}

/**
 * From the moment the waiting processes begin until the store says that nothing is left. The processes have
 * loaded their code and connected before.
 */
async function measureWorkOff(trial) {
  const { runner, settings, place, task, limits } = trial;
  const { jobs } = await enqueueMany(trial);
  const watcher = await runner.watcher(place.address, settings);
  const fleet = await Fleet.ready(trial, task.processes, task.what);
  try {
    await place.settle();
    const start = now();
    const deadline = start + limits.seconds * 1000;
    fleet.begin();
    const finished =
      (await fleet.handles(jobs, deadline)) && (await until(async () => (await watcher.left()) === 0, deadline));
    if (finished) return rate(jobs, now() - start, task.processes);
    const result = rate(jobs - (await watcher.left()), now() - start, task.processes);
    return { ...result, stopped_at_limit: true };
  } finally {
    await fleet.stop();
    await watcher.close();
  }
}

function percentile(sorted, share) {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}

/** From the call that enqueues a job here to its handler in another process that has nothing else to do. */
async function measureStartLatency(trial) {
  const { runner, settings, place, limits } = trial;
  const producer = await runner.producer(place.address, settings);
  const fleet = await Fleet.ready(trial, 1, 'start_latency');
  try {
    fleet.begin();
    await producer.one({ at: 0 });
    const first = await fleet.handles(1, now() + limits.seconds * 1000);
    if (!first) throw new Error('the first job did not start in time');
    await sleep(500);
    const deadline = now() + limits.seconds * 1000;
    let sent = 1;
    while (sent <= limits.latencyJobs && now() < deadline) {
      await producer.one({ at: now() });
      sent++;
      // Out of step with any polling.
      await sleep(40 + Math.random() * 20);
    }
    await fleet.handles(sent, deadline + 5000);
    const delays = (await fleet.stop()).sort((a, b) => a - b);
    if (!delays.length) throw new Error('no job started in time');
    return {
      jobs: delays.length,
      processes: 1,
      p50_ms: round(percentile(delays, 0.5), 3),
      p95_ms: round(percentile(delays, 0.95), 3),
    };
  } finally {
    await fleet.stop();
    await producer.close();
  }
}

/** The most sessions of the database that the processes keep while jobs keep coming, each process with 16 at once. */
async function measureConnections(trial) {
  const { runner, settings, place, task } = trial;
  const producer = await runner.producer(place.address, settings);
  const sessions = await sessionCount(place.address);
  const own = await sessions.now();
  const fleet = await Fleet.ready(trial, task.processes, task.what);
  let most = 0;
  try {
    fleet.begin();
    for (const start = now(); now() - start < 3000; ) {
      await producer.many(Array.from({ length: 16 }, (_, n) => ({ n })));
      most = Math.max(most, await sessions.now());
    }
  } finally {
    await fleet.stop();
    await sessions.close();
    await producer.close();
  }
  return { processes: task.processes, connections: most - own };
}

const ways = {
  connections: measureConnections,
  enqueue_single: measureEnqueueSingle,
  enqueue_bulk: enqueueMany,
  work_off: measureWorkOff,
  work_off_unbatched: measureWorkOff,
  start_latency: measureStartLatency,
};
