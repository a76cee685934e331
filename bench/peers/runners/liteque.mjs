// liteque on SQLite. It has no call for many jobs, and keeps nothing of a completed one. It needs a better-sqlite3 that
// still permits an asynchronous transaction function, which is why package.json has 11.9.
import { buildDBClient, Runner, SqliteQueue } from 'liteque';

import { enqueueSingle, startLatency, workOff } from '../harness/measurements.mjs';

function open(place, { synchronous }) {
  const db = buildDBClient(place.file, { runMigrations: true });
  const connection = db.session.client;
  connection.pragma(`synchronous = ${synchronous}`);
  const queue = new SqliteQueue('work', db, { defaultJobArgs: { numRetries: 2 }, keepFailedJobs: false });
  return { queue, close: () => connection.close() };
}

const everything = [enqueueSingle, workOff(1), workOff(2), startLatency];
const fast = { about: 'pollIntervalMs 1, 16 concurrent jobs', pollMs: 1, concurrency: 16, measurements: everything };

export default {
  name: 'liteque',
  store: 'sqlite',
  packages: ['liteque', 'better-sqlite3'],
  configs: {
    'fast, FULL': { ...fast, synchronous: 'FULL' },
    'fast, NORMAL': { ...fast, synchronous: 'NORMAL' },
    default: {
      about: 'as its documentation shows it: pollIntervalMs 1,000, one job at a time, synchronous=NORMAL',
      measurements: [workOff(1), startLatency],
      synchronous: 'NORMAL',
      pollMs: 1000,
      concurrency: 1,
    },
  },

  async prepare(place, settings) {
    open(place, settings).close();
  },

  async producer(place, settings) {
    const { queue, close } = open(place, settings);
    return {
      one: (payload) => queue.enqueue(payload),
      many: async (payloads) => {
        for (const payload of payloads) await queue.enqueue(payload);
      },
      close,
    };
  },

  async worker({ place, settings, onJob }) {
    const { queue } = open(place, settings);
    const runner = new Runner(
      queue,
      { run: async (job) => onJob(job.data) },
      { concurrency: settings.concurrency, pollIntervalMs: settings.pollMs, timeoutSecs: 60 },
    );
    return { begin: () => runner.run(), stop: async () => runner.stop() };
  },

  async watcher(place, settings) {
    const { queue, close } = open(place, settings);
    return {
      left: async () => {
        const { pending, pending_retry: retrying, running } = await queue.stats();
        return pending + retrying + running;
      },
      close: async () => close(),
    };
  },
};
