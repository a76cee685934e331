// Shared by the runners on PostgreSQL.
import { spawn } from 'node:child_process';

import pg from 'pg';

export async function connected(place) {
  const client = new pg.Client({ connectionString: place.url });
  // After a failed measurement the database may be dropped before its connections are closed.
  client.on('error', (error) => console.error(`connection: ${error.message}`));
  await client.connect();
  return client;
}

/** COPY from these lines through psql, which is faster than the driver; target is a table and its columns. */
export async function copyIn(place, target, lines) {
  const parameters = ['-X', '-q', '-v', 'ON_ERROR_STOP=1', '-c', `COPY ${target} FROM STDIN`, place.url];
  const psql = spawn('psql', parameters, { stdio: ['pipe', 'inherit', 'inherit'] });
  psql.stdin.end(lines);
  const code = await new Promise((resolve) => psql.once('exit', resolve));
  if (code !== 0) throw new Error(`psql ended with ${code}`);
}

/** A watcher whose statement counts what is left, as `left`. */
export async function countingWatcher(place, statement) {
  const client = await connected(place);
  return {
    left: async () => Number((await client.query({ name: 'left', text: statement })).rows[0].left),
    close: () => client.end(),
  };
}

/** Counts the sessions of the database, except its own. */
export async function sessionCount(place) {
  const client = await connected(place);
  const text = `SELECT count(*) AS sessions FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()`;
  return {
    now: async () => Number((await client.query(text)).rows[0].sessions),
    close: () => client.end(),
  };
}

/**
 * A worker of so many connections, each of which repeats turn(client) until it is stopped. A turn gives the number of
 * jobs it did; after none, a connection pauses for a moment.
 */
export async function loopingWorker({ place, connections, turn, idleMs = 2 }) {
  const clients = await Promise.all(Array.from({ length: connections }, () => connected(place)));
  let going = true;
  let loops = [];
  const loop = async (client) => {
    while (going) {
      if ((await turn(client)) === 0) await new Promise((resolve) => setTimeout(resolve, idleMs));
    }
  };
  return {
    begin: async () => {
      loops = clients.map(loop);
      // A failing loop must be reported at once, not at the stop.
      await Promise.all(loops);
    },
    stop: async () => {
      going = false;
      await Promise.allSettled(loops);
      await Promise.all(clients.map((client) => client.end()));
    },
  };
}
