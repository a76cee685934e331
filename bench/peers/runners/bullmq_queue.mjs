// BullMQ on any store. It has no batches: fast means many concurrent jobs in one worker, and completed jobs that are
// not kept.
import { Queue, Worker } from 'bullmq';

const queueName = 'work';

function complain(error) {
  console.error(`bullmq: ${error.message}`);
}

/** The part of a runner that is the same on Redis and on PostgreSQL; connect(place) gives [connection, backend...]. */
export function bullmqRunner(connect) {
  const open = (place) => {
    const [connection, ...backend] = connect(place);
    const queue = new Queue(queueName, { connection }, ...backend);
    queue.on('error', complain);
    return queue;
  };

  return {
    async prepare(place) {
      const queue = open(place);
      await queue.waitUntilReady();
      await queue.close();
    },

    async producer(place, { keep }) {
      const queue = open(place);
      await queue.waitUntilReady();
      const opts = keep ? undefined : { removeOnComplete: true };
      return {
        one: (payload) => queue.add('job', payload, opts),
        many: (payloads) => queue.addBulk(payloads.map((data) => ({ name: 'job', data, opts }))),
        close: () => queue.close(),
      };
    },

    async worker({ place, settings, what, onJob }) {
      const [connection, ...backend] = connect(place);
      const concurrency = what === 'work_off_unbatched' ? 16 : settings.concurrency;
      const options = { connection, concurrency, autorun: false };
      const worker = new Worker(queueName, async (job) => onJob(job.data), options, ...backend);
      worker.on('error', complain);
      await worker.waitUntilReady();
      return {
        begin: async () => {
          worker.run();
        },
        stop: () => worker.close(),
      };
    },

    async watcher(place) {
      const queue = open(place);
      return {
        left: async () => {
          const counts = await queue.getJobCounts('waiting', 'active', 'prioritized', 'delayed');
          return Object.values(counts).reduce((sum, count) => sum + count, 0);
        },
        close: () => queue.close(),
      };
    },
  };
}
