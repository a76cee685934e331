// PgQ: a consumer takes all events between two ticks as one batch and finishes them together; an event has no lease of
// its own, and two processes cannot share a consumer's events without an extension that Debian does not have. The
// runners call the ticker as its daemon does.
import { enqueueBulk, enqueueSingle, startLatency, workOff } from '../harness/measurements.mjs';
import { connected, copyIn, countingWatcher, loopingWorker } from './postgres.mjs';

const insertOne = { name: 'insert', text: "SELECT pgq.insert_event('work', 'job', $1)" };
const insertMany = {
  name: 'insert_many',
  text: "SELECT pgq.insert_event('work', 'job', data) FROM unnest($1::text[]) AS data",
};
const nextBatch = { name: 'next', text: "SELECT pgq.next_batch('work', 'worker') AS id" };
const events = { name: 'events', text: 'SELECT ev_id, ev_data FROM pgq.get_batch_events($1)' };
const finish = { name: 'finish', text: 'SELECT pgq.finish_batch($1)' };

function query(client, statement, ...values) {
  return client.query({ ...statement, values });
}

async function takeBatch(client, onJob) {
  const { id } = (await query(client, nextBatch)).rows[0];
  if (id === null) return 0;
  const { rows } = await query(client, events, id);
  for (const row of rows) onJob(JSON.parse(row.ev_data));
  await query(client, finish, id);
  return 1;
}

async function tick(client) {
  await client.query("SELECT pgq.force_tick('work')");
  await client.query("SELECT pgq.ticker('work')");
}

/** COPY into the event table, which the documentation of pgq.current_event_table() allows. */
async function copyEvents(place, client, payloads) {
  const table = (await client.query("SELECT pgq.current_event_table('work') AS name")).rows[0].name;
  const lines = payloads.map((payload) => `now\tjob\t${JSON.stringify(payload)}\n`);
  await copyIn(place, `${table} (ev_time, ev_type, ev_data)`, lines.join(''));
}

/** Calls the ticker again and again, as the daemon does. */
async function ticker(place, periodMs) {
  const client = await connected(place);
  let going = true;
  const loop = (async () => {
    while (going) {
      await client.query('SELECT pgq.ticker()');
      await new Promise((resolve) => setTimeout(resolve, periodMs));
    }
  })();
  return async () => {
    going = false;
    await loop;
    await client.end();
  };
}

export default {
  name: 'pgq',
  store: 'postgresql',
  packages: ['pg'],
  extraVersions: { pgq: '3.5' },
  configs: {
    fast: {
      about: 'a tick per 10,000 events, COPY 10,000 at a time; for latency a tick every 10 ms, ticker_max_count 1',
      measurements: [enqueueSingle, enqueueBulk, workOff(1), startLatency],
      bulkSize: 10_000,
      copies: true,
      tickerPeriodMs: 10,
      queue: { ticker_max_count: '1', ticker_max_lag: '0' },
      idleMs: 5,
    },
    default: {
      about: 'a tick per 500 events, insert_event() in one statement for 500; the ticker runs every second',
      measurements: [enqueueSingle, enqueueBulk, workOff(1), startLatency],
      bulkSize: 500,
      tickerPeriodMs: 1000,
      queue: {},
      idleMs: 100,
    },
  },

  async prepare(place, settings) {
    const client = await connected(place);
    await client.query('CREATE EXTENSION pgq');
    await client.query("SELECT pgq.create_queue('work')");
    for (const [key, value] of Object.entries(settings.queue)) {
      await client.query("SELECT pgq.set_queue_config('work', $1, $2)", [key, value]);
    }
    await client.query("SELECT pgq.register_consumer('work', 'worker')");
    await client.end();
  },

  async producer(place, settings) {
    const client = await connected(place);
    return {
      one: (payload) => query(client, insertOne, JSON.stringify(payload)),
      many: async (payloads) => {
        if (settings.copies) await copyEvents(place, client, payloads);
        else await query(client, insertMany, payloads.map((payload) => JSON.stringify(payload)));
        await tick(client);
      },
      close: () => client.end(),
    };
  },

  async worker({ place, settings, what, onJob }) {
    const turn = (client) => takeBatch(client, onJob);
    const worker = await loopingWorker({ place, connections: 1, turn, idleMs: settings.idleMs });
    if (what !== 'start_latency') return worker;
    const stopTicker = await ticker(place, settings.tickerPeriodMs);
    return { begin: worker.begin, stop: () => worker.stop().then(stopTicker) };
  },

  watcher: (place) =>
    countingWatcher(place, "SELECT sum(pending_events) AS left FROM pgq.get_consumer_info('work', 'worker')"),
};
