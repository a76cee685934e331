// The stores to measure on: a new database, server or file for each measurement. All of them are on loopback or in a
// temporary folder, and are ended by their process id.
import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import pg from 'pg';

import { now, until } from './clock.mjs';

const throwawayPostgres = fileURLToPath(new URL('../../../tools/throwaway-postgres', import.meta.url));
const running = new Set();

async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

function answers(port) {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('error', () => resolve(false));
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
  });
}

async function startServer(program, parameters, port) {
  const child = spawn(program, parameters, { stdio: ['ignore', 'ignore', 'inherit'] });
  running.add(child);
  const ended = new Promise((resolve) => child.once('exit', resolve)).then(() => running.delete(child));
  if (!(await until(() => answers(port), now() + 10_000, 20))) throw new Error(`${program} did not start`);
  return async () => {
    child.kill('SIGTERM');
    await ended;
  };
}

export class Servers {
  #postgresFolder = null;
  #folder = mkdtempSync(join(tmpdir(), 'leasehold-peers.'));
  #postgresUrl;
  #number = 0;

  constructor(postgresUrl) {
    this.#postgresUrl = postgresUrl;
    // The server runs as another user than root.
    chmodSync(this.#folder, 0o755);
  }

  /** Something new and empty: `address` is what a runner needs to reach it. */
  async place(store, settings) {
    const ways = { postgresql: this.#database, redis: this.#redis, beanstalkd: this.#beanstalkd, sqlite: this.#file };
    const place = await ways[store].call(this, settings, ++this.#number);
    return { settle: async () => {}, ...place };
  }

  /** Everything, at once: also the way out after a signal. */
  stop() {
    for (const child of running) child.kill('SIGTERM');
    if (this.#postgresFolder) execFileSync(throwawayPostgres, ['stop', this.#postgresFolder]);
    this.#postgresFolder = null;
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #database(_settings, number) {
    if (!this.#postgresUrl) {
      this.#postgresFolder = join(this.#folder, 'postgres');
      const url = execFileSync(throwawayPostgres, ['start', this.#postgresFolder, 'shared_buffers=128MB'], { encoding: 'utf8' });
      this.#postgresUrl = url.trim();
    }
    const name = `leasehold_peers_${process.pid}_${number}`;
    const url = new URL(this.#postgresUrl);
    url.pathname = `/${name}`;
    const admin = new pg.Client({ connectionString: this.#postgresUrl });
    await admin.connect();
    await admin.query(`CREATE DATABASE ${name}`);
    const { rows } = await admin.query(
      `SELECT current_setting('fsync') AS fsync, current_setting('synchronous_commit') AS commit,
              current_setting('server_version') AS version`,
    );
    return {
      address: { url: url.href },
      durability: `fsync=${rows[0].fsync}, synchronous_commit=${rows[0].commit}`,
      serverVersion: { postgresql: rows[0].version.split(' ')[0] },
      // A measurement must not pay for old statistics or for another measurement's dirty pages.
      settle: async () => {
        const client = new pg.Client({ connectionString: url.href });
        await client.connect();
        await client.query('ANALYZE');
        await client.query('CHECKPOINT');
        await client.end();
      },
      discard: async () => {
        // Some peers report that they are closed before they are.
        const others = `SELECT FROM pg_stat_activity WHERE datname = '${name}'`;
        await until(async () => (await admin.query(others)).rowCount === 0, now() + 2000, 20);
        await admin.query(`DROP DATABASE ${name} WITH (FORCE)`);
        await admin.end();
      },
    };
  }

  #subfolder(number) {
    const folder = join(this.#folder, String(number));
    mkdirSync(folder);
    return folder;
  }

  async #redis({ appendOnly }, number) {
    const folder = this.#subfolder(number);
    const port = await freePort();
    const log = appendOnly ? ['--appendonly', 'yes', '--appendfsync', 'everysec'] : ['--appendonly', 'no'];
    const fixed = ['--port', port, '--bind', '127.0.0.1', '--dir', folder, '--save', '', '--logfile', 'redis.log'];
    const stop = await startServer('redis-server', [...fixed, ...log].map(String), port);
    return {
      address: { port },
      durability: appendOnly ? 'appendonly yes, appendfsync everysec' : 'none: memory only',
      discard: () => stop().then(() => rmSync(folder, { recursive: true })),
    };
  }

  async #beanstalkd({ binlog }, number) {
    const folder = this.#subfolder(number);
    const port = await freePort();
    const log = binlog ? ['-b', folder, '-f', '50'] : [];
    const stop = await startServer('beanstalkd', ['-l', '127.0.0.1', '-p', String(port), ...log], port);
    return {
      address: { port },
      durability: binlog ? 'binlog, fsync at most every 50 ms (its default)' : 'none: memory only',
      discard: () => stop().then(() => rmSync(folder, { recursive: true })),
    };
  }

  async #file({ synchronous }, number) {
    const folder = this.#subfolder(number);
    return {
      address: { file: join(folder, 'queue.db') },
      durability: `WAL, synchronous=${synchronous}`,
      discard: async () => rmSync(folder, { recursive: true }),
    };
  }
}
