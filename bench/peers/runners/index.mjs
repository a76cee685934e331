// The peers, by name. Each file is loaded only when needed: a worker process should contain its own peer and nothing
// else.
//
// A runner is an object with
//   name, store         what the results call it; postgresql, redis, beanstalkd or sqlite
//   packages            npm packages whose versions belong to the result
//   configs             by name: { about, measurements, ... } and settings for the runner and its server
//   prepare(place, settings)              makes the queue in a new, empty store
//   producer(place, settings)             { one(payload), many(payloads), close() }
//   worker({ place, settings, what, onJob })   connected { begin(), stop() }; calls onJob(payload) for each job
//   watcher(place, settings)              { left(), close() }: the number of jobs that are not completed yet
//   own                 its own way of measuring something, see harness/measures.mjs
const files = {
  'raw-postgres': 'raw_postgres.mjs',
  'graphile-worker': 'graphile_worker.mjs',
  'pg-boss': 'pg_boss.mjs',
  'bullmq-postgres': 'bullmq_postgres.mjs',
  pgmq: 'pgmq.mjs',
  pgq: 'pgq.mjs',
  bullmq: 'bullmq.mjs',
  beanstalkd: 'beanstalkd.mjs',
  plainjob: 'plainjob.mjs',
  liteque: 'liteque.mjs',
};

export const names = Object.keys(files);

export async function load(name) {
  return (await import(`./${files[name]}`)).default;
}
