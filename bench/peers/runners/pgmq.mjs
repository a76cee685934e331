// pgmq: the SQL functions of the extension, called through one connection per caller. Its SQL is installed as a script,
// as its documentation allows.
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

import { all, enqueueSingle, enqueueBulk, startLatency, unbatched, workOff } from '../harness/measurements.mjs';
import { connected, countingWatcher, loopingWorker } from './postgres.mjs';

const version = '1.11.1';
const archive = fileURLToPath(new URL('../node_modules/@electric-sql/pglite-pgmq/dist/pgmq.tar.gz', import.meta.url));
const visibilitySeconds = 30;

const send = { name: 'send', text: "SELECT * FROM pgmq.send('work', $1::jsonb)" };
const sendBatch = { name: 'send_batch', text: "SELECT count(*) FROM pgmq.send_batch('work', $1::jsonb[])" };
const read = { name: 'read', text: `SELECT msg_id, message FROM pgmq.read('work', ${visibilitySeconds}, $1)` };
const readWithPoll = {
  name: 'read_with_poll',
  text: `SELECT msg_id, message FROM pgmq.read_with_poll('work', ${visibilitySeconds}, 1, 1)`,
};
const deletes = { name: 'delete', text: "SELECT count(*) FROM pgmq.delete('work', $1::bigint[])" };
const archives = { name: 'archive', text: "SELECT count(*) FROM pgmq.archive('work', $1::bigint[])" };

function query(client, statement, ...values) {
  return client.query({ ...statement, values });
}

/** Reads, handles and finishes what there is, up to qty messages; gives how many there were. */
async function take(client, { qty, archive: keep }, onJob, reading = read) {
  const { rows } = await query(client, reading, ...(reading === read ? [qty] : []));
  if (!rows.length) return 0;
  for (const row of rows) onJob(row.message);
  await query(client, keep ? archives : deletes, rows.map((row) => row.msg_id));
  return rows.length;
}

/** Sleeps until the queue's trigger notifies, then reads until nothing is left. */
async function listeningWorker({ place, settings, onJob }) {
  const client = await connected(place);
  let turn = Promise.resolve();
  const drain = async () => {
    while ((await take(client, settings, onJob)) > 0);
  };
  client.on('notification', () => {
    turn = turn.then(drain);
  });
  return {
    begin: async () => {
      await client.query('LISTEN "pgmq.q_work.INSERT"');
      await drain();
    },
    stop: async () => {
      await turn;
      await client.end();
    },
  };
}

export default {
  name: 'pgmq',
  store: 'postgresql',
  packages: ['pg'],
  extraVersions: { pgmq: version },
  configs: {
    fast: {
      about: 'read() and delete() 1,000 at a time; send_batch() 1,000 at a time; woken by enable_notify_insert()',
      measurements: all,
      qty: 1000,
      notifies: true,
    },
    'fast, archived': {
      about: 'read() and archive() 1,000 at a time, so that finished messages are kept',
      measurements: [workOff(1), workOff(2), unbatched],
      qty: 1000,
      archive: true,
    },
    default: {
      about: 'read() and delete() one at a time; read_with_poll() as it comes, every 100 ms',
      measurements: [enqueueSingle, enqueueBulk, workOff(1), workOff(2), startLatency],
      qty: 1,
    },
  },

  async prepare(place) {
    const file = `share/postgresql/extension/pgmq--${version}.sql`;
    const sql = execFileSync('tar', ['-xzOf', archive, file], { encoding: 'utf8', maxBuffer: 1 << 26 });
    const client = await connected(place);
    await client.query(sql);
    await client.query("SELECT pgmq.create('work')");
    await client.end();
  },

  async producer(place) {
    const client = await connected(place);
    return {
      one: (payload) => query(client, send, JSON.stringify(payload)),
      many: (payloads) => query(client, sendBatch, payloads.map((payload) => JSON.stringify(payload))),
      close: () => client.end(),
    };
  },

  async worker({ place, settings, what, onJob }) {
    if (what === 'start_latency' && settings.notifies) {
      // The trigger costs every send something, so it exists only if its notifications are wanted.
      const client = await connected(place);
      await client.query("SELECT pgmq.enable_notify_insert('work', 0)");
      await client.end();
      return listeningWorker({ place, settings, onJob });
    }
    if (what === 'start_latency') {
      return loopingWorker({ place, connections: 1, turn: (client) => take(client, settings, onJob, readWithPoll) });
    }
    const single = what === 'work_off_unbatched';
    const how = single ? { ...settings, qty: 1 } : settings;
    return loopingWorker({ place, connections: single ? 16 : 1, turn: (client) => take(client, how, onJob) });
  },

  watcher: (place) => countingWatcher(place, 'SELECT count(*) AS left FROM pgmq.q_work'),
};
