// beanstalkd. Fast sends many commands before it waits for the answers; default is one command at a time.
import { all, enqueueBulk, enqueueSingle, startLatency, workOff } from '../harness/measurements.mjs';
import { BeanstalkClient } from './beanstalk_client.mjs';

const reserveSeconds = 1;

/** Takes up to so many jobs in one go. Only a lone reserve waits: the first of many would hold up the rest. */
async function take(client, depth, onJob) {
  const wait = depth === 1 ? reserveSeconds : 0;
  const reserves = () => Array.from({ length: depth }, () => client.reserve(wait));
  const jobs = (await client.together(reserves)).filter((job) => job !== null);
  for (const job of jobs) onJob(JSON.parse(job.body));
  await client.together(() => jobs.map((job) => client.delete(job.id)));
  return jobs.length;
}

async function loop(client, depth, onJob, stillGoing) {
  while (stillGoing()) {
    const done = await take(client, depth, onJob);
    if (done === 0 && depth > 1) await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

const pipelined = { about: '100 commands at a time on one connection; unbatched: 16 connections', depth: 100 };
const simple = { about: 'one command at a time on one connection', depth: 1 };
const single = [enqueueSingle, enqueueBulk, workOff(1), workOff(2), startLatency];

export default {
  name: 'beanstalkd',
  store: 'beanstalkd',
  packages: [],
  configs: {
    fast: { ...pipelined, measurements: all, binlog: true },
    'fast, no log': { ...pipelined, measurements: all, binlog: false },
    default: { ...simple, measurements: single, binlog: false },
  },

  async prepare() {},

  async producer(place, { depth }) {
    const client = await BeanstalkClient.open(place.port);
    return {
      one: (payload) => client.put(JSON.stringify(payload)),
      many: async (payloads) => {
        for (let first = 0; first < payloads.length; first += depth) {
          const some = payloads.slice(first, first + depth);
          await client.together(() => some.map((payload) => client.put(JSON.stringify(payload))));
        }
      },
      close: () => client.close(),
    };
  },

  async worker({ place, settings, what, onJob }) {
    const connections = what === 'work_off_unbatched' ? 16 : 1;
    const depth = what === 'work_off' ? settings.depth : 1;
    const clients = await Promise.all(Array.from({ length: connections }, () => BeanstalkClient.open(place.port)));
    let going = true;
    let loops = [];
    return {
      begin: async () => {
        loops = clients.map((client) => loop(client, depth, onJob, () => going));
        await Promise.all(loops);
      },
      stop: async () => {
        going = false;
        await Promise.allSettled(loops);
        clients.forEach((client) => client.close());
      },
    };
  },

  async watcher(place) {
    const client = await BeanstalkClient.open(place.port);
    return { left: () => client.left(), close: () => client.close() };
  },
};
