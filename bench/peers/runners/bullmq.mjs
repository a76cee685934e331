// BullMQ on Redis, with an append-only file and without.
import { all, enqueueBulk, enqueueSingle, startLatency, workOff } from '../harness/measurements.mjs';
import { bullmqRunner } from './bullmq_queue.mjs';

export default {
  name: 'bullmq',
  store: 'redis',
  packages: ['bullmq', 'ioredis'],
  configs: {
    fast: {
      about: '50 concurrent jobs, removeOnComplete; addBulk 1,000 at a time',
      measurements: all,
      appendOnly: true,
      concurrency: 50,
      keep: false,
    },
    'fast, no log': {
      about: '50 concurrent jobs, removeOnComplete; addBulk 1,000 at a time; Redis forgets everything when it ends',
      measurements: all,
      appendOnly: false,
      concurrency: 50,
      keep: false,
    },
    default: {
      about: 'as it comes: one job at a time, completed jobs kept; addBulk 1,000 at a time',
      measurements: [enqueueSingle, enqueueBulk, workOff(1), workOff(2), startLatency],
      appendOnly: true,
      concurrency: 1,
      keep: true,
    },
  },
  ...bullmqRunner((place) => [{ host: '127.0.0.1', port: place.port }]),
};
