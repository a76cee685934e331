// PostgreSQL itself with a simple table: the baseline for what a queue adds. pgbench measures throughput, which costs
// less than any driver; a wake-up uses two processes as for the others.
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { now } from '../harness/clock.mjs';
import { enqueueBulk, enqueueSingle, rate, startLatency, unbatched, workOff } from '../harness/measurements.mjs';
import { connected, copyIn } from './postgres.mjs';

const pgbench = '/usr/lib/postgresql/15/bin/pgbench';
const run = promisify(execFile);

const schema = `
CREATE TABLE raw_job (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  queue text NOT NULL,
  payload jsonb NOT NULL,
  locked_until timestamptz
);
CREATE INDEX raw_job_waits ON raw_job (queue, id) WHERE locked_until IS NULL;`;

const insert = `INSERT INTO raw_job (queue, payload) VALUES ('work', '{"n": 1}') RETURNING id;`;

function claim(limit) {
  return `UPDATE raw_job SET locked_until = now() + interval '30 seconds'
           WHERE id = ANY (ARRAY(SELECT id FROM raw_job WHERE queue = 'work' AND locked_until IS NULL
                                  ORDER BY id LIMIT ${limit} FOR UPDATE SKIP LOCKED))
       RETURNING id`;
}

const claimOne = `${claim(1)} \\gset\nDELETE FROM raw_job WHERE id = :id;`;
const claimMany = `WITH claimed AS (${claim(1000)}) SELECT array_agg(id) AS ids FROM claimed \\gset
DELETE FROM raw_job WHERE id = ANY (':ids'::bigint[]);`;

/** Runs a script so many times in each of so many connections; gives milliseconds without the connecting. */
async function pgbenchRun(url, script, { connections = 1, times, mode = 'prepared' }) {
  const folder = mkdtempSync(join(tmpdir(), 'leasehold-pgbench.'));
  const file = join(folder, 'script.sql');
  writeFileSync(file, `${script}\n`);
  const threads = Math.min(connections, 2);
  const parameters = ['-n', '-M', mode, '-c', connections, '-j', threads, '-t', times, '-f', file, url];
  try {
    const { stdout } = await run(pgbench, parameters.map(String));
    return (connections * times * 1000) / Number(stdout.match(/tps = ([\d.]+)/)[1]);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The same, with as many jobs as are wanted or as a trial run says that the time limit allows. */
async function measured({ place, limits, task }, script, { connections, wanted }) {
  const { url } = place.address;
  const trial = Math.max(1, Math.min(50, Math.floor(wanted / connections)));
  const spent = await pgbenchRun(url, script, { connections, times: trial });
  const times = Math.max(1, Math.floor(Math.min(wanted / connections, (trial * limits.seconds * 1000) / spent)));
  const jobs = times * connections;
  return rate(jobs, await pgbenchRun(url, script, { connections, times }), task.processes);
}

async function fill(place, jobs) {
  const client = await connected(place.address);
  await client.query(
    `INSERT INTO raw_job (queue, payload)
     SELECT 'work', jsonb_build_object('n', n) FROM generate_series(1, $1::int) AS n`,
    [jobs],
  );
  await client.end();
  await place.settle();
}

async function oneByOne(trial, connections) {
  const wanted = Math.max(connections, Math.floor(trial.limits.jobs / 5));
  // The trial run takes some, too.
  await fill(trial.place, 2 * wanted);
  return measured(trial, claimOne, { connections, wanted });
}

async function batches({ place, limits, task }) {
  const times = Math.max(1, Math.floor(limits.jobs / 1000 / task.processes));
  const jobs = times * task.processes * 1000;
  await fill(place, jobs);
  const spent = await pgbenchRun(place.address.url, claimMany, { connections: task.processes, times, mode: 'simple' });
  return rate(jobs, spent, task.processes);
}

async function copy({ place, limits }) {
  const lines = Array.from({ length: limits.jobs }, (_, n) => `work\t{"n": ${n}}\n`).join('');
  const start = now();
  await copyIn(place.address, 'raw_job (queue, payload)', lines);
  return rate(limits.jobs, now() - start);
}

const sends = {
  'notify only': `SELECT pg_notify('work', $1::text)`,
  'insert, notify': `WITH job AS (INSERT INTO raw_job (queue, payload) VALUES ('work', $1::text::jsonb))
                     SELECT pg_notify('work', $1::text)`,
};
sends['insert, notify, claim'] = sends['insert, notify'];

export default {
  name: 'raw-postgres',
  store: 'postgresql',
  packages: ['pg'],
  configs: {
    'one by one': {
      about: 'pgbench: INSERT; UPDATE with SKIP LOCKED, then DELETE, as two transactions; unbatched: 16 connections',
      measurements: [enqueueSingle, workOff(1), workOff(2), unbatched],
    },
    batches: {
      about: 'psql: one COPY; pgbench: the same claim and DELETE for 1,000 rows at a time',
      measurements: [enqueueBulk, workOff(1), workOff(2)],
      batched: true,
    },
    'notify only': { about: 'LISTEN/NOTIFY, nothing stored', measurements: [startLatency] },
    'insert, notify': { about: 'INSERT and NOTIFY in one commit', measurements: [startLatency] },
    'insert, notify, claim': {
      about: 'INSERT and NOTIFY in one commit, claimed when woken',
      measurements: [startLatency],
    },
  },

  async prepare(place) {
    const client = await connected(place);
    await client.query(schema);
    await client.end();
  },

  async producer(place, settings) {
    const client = await connected(place);
    const config = Object.entries(this.configs).find(([, each]) => each === settings)[0];
    return {
      one: (payload) => client.query({ name: 'send', text: sends[config], values: [JSON.stringify(payload)] }),
      close: () => client.end(),
    };
  },

  async worker({ place, settings, onJob }) {
    const client = await connected(place);
    const claims = settings === this.configs['insert, notify, claim'];
    client.on('notification', async ({ payload }) => {
      if (claims) await client.query({ name: 'claim', text: claim(1) });
      onJob(JSON.parse(payload));
    });
    // A notification before LISTEN is lost.
    await client.query('LISTEN work');
    return { begin: async () => {}, stop: () => client.end() };
  },

  own: {
    enqueue_single: (trial) =>
      measured(trial, insert, { connections: 1, wanted: Math.max(1, Math.floor(trial.limits.jobs / 10)) }),
    enqueue_bulk: copy,
    work_off: (trial) => (trial.settings.batched ? batches(trial) : oneByOne(trial, trial.task.processes)),
    work_off_unbatched: (trial) => oneByOne(trial, 16),
  },
};
