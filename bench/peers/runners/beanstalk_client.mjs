// The part of beanstalkd's protocol that the measurements need. Commands may be sent without waiting for the answers of
// earlier ones; answers come in the order of the commands.
import { connect } from 'node:net';

export class BeanstalkClient {
  #socket;
  #waiting = [];
  #received = Buffer.alloc(0);

  static async open(port) {
    const client = new BeanstalkClient();
    client.#socket = connect(port, '127.0.0.1');
    client.#socket.setNoDelay(true);
    await new Promise((resolve, reject) => {
      client.#socket.once('connect', resolve);
      client.#socket.once('error', reject);
    });
    client.#socket.on('data', (data) => client.#take(data));
    client.#socket.on('error', (error) => client.#fail(error));
    client.#socket.on('close', () => client.#fail(new Error('beanstalkd closed the connection')));
    return client;
  }

  put(body) {
    return this.#ask(`put 0 0 60 ${Buffer.byteLength(body)}\r\n${body}\r\n`, 'INSERTED');
  }

  /** The next job as { id, body }, or null when none came within so many seconds. */
  reserve(seconds) {
    return this.#ask(`reserve-with-timeout ${seconds}\r\n`, 'RESERVED', 'TIMED_OUT');
  }

  delete(id) {
    return this.#ask(`delete ${id}\r\n`, 'DELETED');
  }

  async left() {
    const { body } = await this.#ask('stats-tube default\r\n', 'OK');
    const count = (state) => Number(body.match(new RegExp(`current-jobs-${state}: (\\d+)`))[1]);
    return count('ready') + count('reserved');
  }

  /** Collects the commands of what is called meanwhile into one packet. */
  together(send) {
    this.#socket.cork();
    const answers = send();
    this.#socket.uncork();
    return Promise.all(answers);
  }

  close() {
    this.#socket.removeAllListeners('close');
    this.#socket.destroy();
  }

  #ask(command, ...expected) {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject, expected });
      this.#socket.write(command);
    });
  }

  #take(data) {
    this.#received = this.#received.length ? Buffer.concat([this.#received, data]) : data;
    let position = 0;
    for (;;) {
      const end = this.#received.indexOf('\r\n', position);
      if (end < 0) break;
      const words = this.#received.toString('latin1', position, end).split(' ');
      const bodyLength = words[0] === 'RESERVED' ? Number(words[2]) : words[0] === 'OK' ? Number(words[1]) : -1;
      const next = bodyLength < 0 ? end + 2 : end + 2 + bodyLength + 2;
      if (this.#received.length < next) break;
      const body = bodyLength < 0 ? null : this.#received.toString('utf8', end + 2, end + 2 + bodyLength);
      position = next;
      this.#answer(words, body);
    }
    this.#received = this.#received.subarray(position);
  }

  #answer([word, id], body) {
    const { resolve, reject, expected } = this.#waiting.shift();
    if (!expected.includes(word)) reject(new Error(`beanstalkd answered ${word}`));
    else resolve(word === 'TIMED_OUT' ? null : { id, body });
  }

  #fail(error) {
    for (const { reject } of this.#waiting.splice(0)) reject(error);
  }
}
