// plainjob on SQLite. It sets synchronous=NORMAL itself; FULL is set after that. Its worker does one job after another
// with two commits each, so that there is nothing to batch; fast only polls more often.
import Database from 'better-sqlite3';
import { better, defineQueue, defineWorker, JobStatus } from 'plainjob';

import { enqueueBulk, enqueueSingle, startLatency, workOff } from '../harness/measurements.mjs';

// Otherwise it logs several lines per job.
const logger = { error: console.error, warn: () => {}, info: () => {}, debug: () => {} };

function open(place, { synchronous }) {
  const database = new Database(place.file);
  const queue = defineQueue({ connection: better(database), logger });
  database.pragma(`synchronous = ${synchronous}`);
  return queue;
}

const everything = [enqueueSingle, enqueueBulk, workOff(1), workOff(2), startLatency];
const fast = { about: 'pollIntervall 1 ms; addMany() 1,000 at a time', pollMs: 1, measurements: everything };

export default {
  name: 'plainjob',
  store: 'sqlite',
  packages: ['plainjob', 'better-sqlite3'],
  configs: {
    'fast, FULL': { ...fast, synchronous: 'FULL' },
    'fast, NORMAL': { ...fast, synchronous: 'NORMAL' },
    default: {
      about: 'as it comes: pollIntervall 1,000 ms, synchronous=NORMAL',
      measurements: [startLatency],
      synchronous: 'NORMAL',
      pollMs: 1000,
    },
  },

  async prepare(place, settings) {
    open(place, settings).close();
  },

  async producer(place, settings) {
    const queue = open(place, settings);
    return {
      one: (payload) => queue.add('work', payload),
      many: (payloads) => queue.addMany('work', payloads),
      close: () => queue.close(),
    };
  },

  async worker({ place, settings, onJob }) {
    const queue = open(place, settings);
    const worker = defineWorker('work', async (job) => onJob(JSON.parse(job.data)), {
      queue,
      logger,
      pollIntervall: settings.pollMs,
    });
    return {
      begin: () => worker.start(),
      stop: async () => {
        await worker.stop();
        queue.close();
      },
    };
  },

  async watcher(place, settings) {
    const queue = open(place, settings);
    const count = (status) => queue.countJobs({ status });
    return {
      left: async () => count(JobStatus.Pending) + count(JobStatus.Processing),
      close: async () => queue.close(),
    };
  },
};
