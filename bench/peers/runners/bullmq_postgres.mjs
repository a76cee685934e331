// BullMQ with its PostgreSQL backend in place of Redis.
import { createPostgresBackend } from 'bullmq';

import { all, enqueueBulk, enqueueSingle, startLatency, workOff } from '../harness/measurements.mjs';
import { bullmqRunner } from './bullmq_queue.mjs';

export default {
  name: 'bullmq-postgres',
  store: 'postgresql',
  packages: ['bullmq', 'pg'],
  configs: {
    fast: {
      about: '50 concurrent jobs over 20 connections, removeOnComplete; addBulk 1,000 at a time',
      measurements: all,
      concurrency: 50,
      keep: false,
    },
    default: {
      about: 'as it comes: one job at a time, completed jobs kept; addBulk 1,000 at a time',
      measurements: [enqueueSingle, enqueueBulk, workOff(1), workOff(2), startLatency],
      concurrency: 1,
      keep: true,
    },
  },
  ...bullmqRunner((place) => [{ connectionString: place.url, max: 20, migrate: true }, createPostgresBackend]),
};
