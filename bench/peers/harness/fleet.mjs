// Worker processes: prepares, starts, counts and stops them. worker.mjs does the work.
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

import { now, until } from './clock.mjs';

const program = fileURLToPath(new URL('worker.mjs', import.meta.url));
const patienceMs = 10_000;

class Member {
  handled = 0;
  delays = [];
  error = null;
  ready = false;
  stopped = false;

  constructor(order) {
    // The results go to our standard output: a peer's output must not mix with them.
    this.process = fork(program, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    this.process.on('message', (message) => Object.assign(this, message));
    this.process.once('exit', (code, signal) => {
      if (!this.stopped) this.error ??= `a worker process ended with ${signal ?? code}`;
      this.stopped = true;
    });
    this.process.send(order);
  }

  send(order) {
    if (this.process.connected) this.process.send(order, () => {});
  }
}

export class Fleet {
  #members;

  constructor(members) {
    this.#members = members;
  }

  /** Processes that have loaded and connected, and wait to begin. */
  static async ready({ runner, config, place }, size, what) {
    const order = { prepare: { runner: runner.name, config, place: place.address, what } };
    const fleet = new Fleet(Array.from({ length: size }, () => new Member(order)));
    try {
      if (!(await fleet.#isReady())) throw new Error('a worker process did not get ready');
    } catch (error) {
      await fleet.stop();
      throw error;
    }
    return fleet;
  }

  begin() {
    for (const member of this.#members) member.send({ begin: true });
  }

  /** Waits until that many jobs went through the handlers; false when the deadline came first. */
  handles(jobs, deadline) {
    return until(() => {
      this.#raise();
      return this.#members.reduce((sum, member) => sum + member.handled, 0) >= jobs;
    }, deadline);
  }

  /** Ends the processes and gives the delays that they saw. */
  async stop() {
    for (const member of this.#members) member.send({ stop: true });
    await until(() => this.#members.every((member) => member.stopped), now() + patienceMs);
    // Members too busy to handle the message.
    for (const member of this.#members) if (!member.stopped) member.process.kill('SIGKILL');
    return this.#members.flatMap((member) => member.delays);
  }

  #raise() {
    const broken = this.#members.find((member) => member.error);
    if (broken) throw new Error(broken.error);
  }

  #isReady() {
    return until(() => {
      this.#raise();
      return this.#members.every((member) => member.ready);
    }, now() + patienceMs);
  }
}
