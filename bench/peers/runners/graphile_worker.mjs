// graphile-worker. Fast uses the settings of its page on performance: 24 jobs at once, a local queue of 500, and
// completions in batches without delay. That page suggests larger local queues for very fast tasks, so one is measured,
// too.
import { Logger, makeWorkerUtils, run } from 'graphile-worker';
import pg from 'pg';

import { all, connections, enqueueBulk, enqueueSingle, startLatency, workOff } from '../harness/measurements.mjs';
import { countingWatcher } from './postgres.mjs';

const logger = new Logger(() => () => {});

function presetFor({ concurrency, localQueue }, what) {
  if (what === 'work_off_unbatched') return { concurrentJobs: 16, maxPoolSize: 17 };
  // With the pool that it has by default.
  if (what === 'connections') return { concurrentJobs: 16 };
  const batches = localQueue && { localQueue: { size: localQueue }, completeJobBatchDelay: 0, failJobBatchDelay: 0 };
  return { concurrentJobs: concurrency, maxPoolSize: Math.max(10, concurrency + 1), ...batches };
}

async function pool(place, max) {
  const connections = new pg.Pool({ connectionString: place.url, max });
  const complain = (error) => console.error(`graphile-worker: ${error.message}`);
  connections.on('error', complain);
  connections.on('connect', (client) => client.on('error', complain));
  await connections.query('SELECT');
  return connections;
}

/** With connections of our own, which are closed for certain when close() is through. */
async function openUtils(place) {
  const pgPool = await pool(place, 1);
  const utils = await makeWorkerUtils({ pgPool, logger });
  const close = async () => {
    await utils.release();
    await pgPool.end();
  };
  return { utils, close };
}

export default {
  name: 'graphile-worker',
  store: 'postgresql',
  packages: ['graphile-worker', 'pg'],
  configs: {
    fast: {
      about: 'localQueue.size 500, completeJobBatchDelay 0, 24 concurrent jobs; addJobs 10,000 at a time',
      measurements: [...all, connections(1), connections(4), connections(16)],
      concurrency: 24,
      localQueue: 500,
      bulkSize: 10_000,
    },
    'fast, larger': {
      about: 'localQueue.size 2,000 and the rest as in fast',
      measurements: [workOff(1), workOff(2)],
      concurrency: 24,
      localQueue: 2000,
      bulkSize: 10_000,
    },
    default: {
      about: 'as it comes: one job at a time, no batches; addJobs 1,000 at a time',
      measurements: [enqueueSingle, enqueueBulk, workOff(1), workOff(2), startLatency],
      concurrency: 1,
    },
  },

  async prepare(place) {
    const { utils, close } = await openUtils(place);
    await utils.migrate();
    await close();
  },

  async producer(place) {
    const { utils, close } = await openUtils(place);
    return {
      one: (payload) => utils.addJob('work', payload),
      many: (payloads) => utils.addJobs(payloads.map((payload) => ({ identifier: 'work', payload }))),
      close,
    };
  },

  async worker({ place, settings, what, onJob }) {
    const worker = presetFor(settings, what);
    const pgPool = await pool(place, worker.maxPoolSize);
    let runner;
    return {
      begin: async () => {
        runner = await run({
          preset: { worker },
          pgPool,
          logger,
          noHandleSignals: true,
          taskList: { work: async (payload) => onJob(payload) },
        });
      },
      stop: async () => {
        await runner?.stop();
        await pgPool.end();
      },
    };
  },

  watcher: (place) => countingWatcher(place, 'SELECT count(*) AS left FROM graphile_worker.jobs'),
};
