// A proxy on this machine that adds a token to each request, for a client that cannot send one.
//
// It works on bytes: but for the added line, the server gets what the client wrote, with the same case of names,
// spaces around values and `Host`, and the client gets what the server wrote. So whatever is judged is the server's.
import { createServer, connect } from 'node:net';

const END_OF_HEAD = Buffer.from('\r\n\r\n');
const MAX_HEAD = 64 * 1024;

/** Cuts the requests of one connection into heads and bodies, and hands on each head with `line` added. */
export class HeaderAdder {
  #line;
  #pending = Buffer.alloc(0);
  #body = 0;

  constructor(line) {
    this.#line = Buffer.from(`\r\n${line}`, 'latin1');
  }

  /** What to send on, now that `bytes` have come. Throws at what it cannot cut. */
  take(bytes) {
    this.#pending = Buffer.concat([this.#pending, bytes]);
    const out = [];
    for (let part = this.#next(); part; part = this.#next()) out.push(...part);
    return Buffer.concat(out);
  }

  #next() {
    if (this.#pending.length === 0) return null;
    if (this.#body > 0) {
      const part = this.#pending.subarray(0, this.#body);
      this.#pending = this.#pending.subarray(part.length);
      this.#body -= part.length;
      return [part];
    }
    const end = this.#pending.indexOf(END_OF_HEAD);
    if (end < 0) {
      if (this.#pending.length > MAX_HEAD) throw new Error('a request head without an end');
      return null;
    }
    const head = this.#pending.subarray(0, end);
    this.#pending = this.#pending.subarray(end + END_OF_HEAD.length);
    this.#body = bodyLength(head.toString('latin1'));
    return [head, this.#line, END_OF_HEAD];
  }
}

/** The length of the body that follows a request head. */
function bodyLength(head) {
  const lengths = [];
  for (const line of head.split('\r\n').slice(1)) {
    const name = line.slice(0, line.indexOf(':')).toLowerCase();
    if (name === 'transfer-encoding' || name === 'authorization') throw new Error(`a request with ${name}`);
    if (name === 'content-length') lengths.push(line.slice(name.length + 1).trim());
  }
  if (lengths.length > 1 || !/^\d{1,9}$/.test(lengths[0] ?? '0')) throw new Error(`a request of length ${lengths}`);
  return Number(lengths[0] ?? 0);
}

/** Listens on a free port and passes everything on to `port`, with `token` in each request. */
export async function startProxy(port, token) {
  const sockets = new Set();
  const server = createServer((client) => {
    const upstream = connect(port, '127.0.0.1');
    const adder = new HeaderAdder(`Authorization: Bearer ${token}`);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on('close', () => sockets.delete(socket));
    }
    // A connection that broke is seen by whoever waits for its answer.
    client.on('error', () => {});
    upstream.on('error', () => client.destroy());
    client.on('close', () => upstream.destroy());
    client.on('data', (bytes) => {
      try {
        upstream.write(adder.take(bytes));
      } catch (error) {
        console.error(`proxy: ${error.message}`);
        client.destroy();
      }
    });
    client.on('end', () => upstream.end());
    upstream.pipe(client);
  });
  await new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    port: server.address().port,
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
