// pg-boss. Fast fetches batches without a pause between them, and is woken by LISTEN/NOTIFY; its unbatched jobs use
// fetch() and complete(), because work() polls between two single jobs.
import { PgBoss } from 'pg-boss';

import { all, connections, enqueueBulk, enqueueSingle, startLatency, workOff } from '../harness/measurements.mjs';
import { countingWatcher } from './postgres.mjs';

const queue = 'work';
const callers = 16;

async function started(place, { notify }, max = callers + 2) {
  const boss = new PgBoss({
    connectionString: place.url,
    max,
    useListenNotify: notify,
    supervise: false,
    schedule: false,
  });
  const complain = (error) => console.error(`pg-boss: ${error.message}`);
  boss.on('error', complain);
  await boss.start();
  // Its workers report an error if a stop closes their connection.
  const stop = async () => {
    boss.off('error', complain).on('error', () => {});
    await boss.stop({ graceful: false });
  };
  return { boss, stop };
}

async function fetchLoop(boss, onJob, stillGoing) {
  while (stillGoing()) {
    const jobs = await boss.fetch(queue);
    if (!jobs.length) return;
    for (const job of jobs) onJob(job.data);
    await boss.complete(queue, jobs[0].id);
  }
}

export default {
  name: 'pg-boss',
  store: 'postgresql',
  packages: ['pg-boss', 'pg'],
  configs: {
    fast: {
      about:
        'work() with batchSize 1,000 and burstWhenBatchFull, useListenNotify; insert() 1,000 at a time; ' +
        'unbatched: 16 fetch() + complete() loops',
      measurements: [...all, connections(1), connections(4), connections(16)],
      work: { batchSize: 1000, burstWhenBatchFull: true },
      notify: true,
    },
    default: {
      about: 'as it comes: work() takes one job every 2 seconds; insert() 1,000 at a time',
      measurements: [enqueueSingle, enqueueBulk, workOff(1), workOff(2), startLatency],
      work: {},
      notify: false,
      limitSeconds: 20,
    },
  },

  async prepare(place, settings) {
    const { boss, stop } = await started(place, settings);
    await boss.createQueue(queue, { notify: settings.notify });
    await stop();
  },

  async producer(place, settings) {
    const { boss, stop } = await started(place, settings);
    return {
      one: (payload) => boss.send(queue, payload),
      many: (payloads) => boss.insert(queue, payloads.map((data) => ({ data }))),
      close: stop,
    };
  },

  async worker({ place, settings, what, onJob }) {
    // How many connections it keeps is up to its own default, 10.
    const { boss, stop } = await started(place, settings, what === 'connections' ? 10 : undefined);
    let going = true;
    return {
      begin: async () => {
        if (what === 'connections') {
          const one = { batchSize: 1, pollingIntervalSeconds: 0.5 };
          await Promise.all(Array.from({ length: callers }, () => boss.work(queue, one, async ([job]) => onJob(job.data))));
        } else if (what === 'work_off_unbatched') {
          await Promise.all(Array.from({ length: callers }, () => fetchLoop(boss, onJob, () => going)));
        } else {
          await boss.work(queue, settings.work, async (jobs) => jobs.forEach((job) => onJob(job.data)));
        }
      },
      stop: async () => {
        going = false;
        await stop();
      },
    };
  },

  watcher: (place) =>
    countingWatcher(place, `SELECT count(*) AS left FROM pgboss.job WHERE name = '${queue}' AND state < 'completed'`),
};
