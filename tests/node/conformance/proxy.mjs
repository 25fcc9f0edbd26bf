// A local proxy that adds a token to each request of a client that cannot send one.
//
// It works on bytes. Apart from the added line, requests and responses pass unchanged, including `Host`, the case of header
// names and the spaces around values. So the suite judges the server, not the proxy.
import { createServer, connect } from 'node:net';

const END_OF_HEAD = Buffer.from('\r\n\r\n');
const MAX_HEAD = 64 * 1024;

/** Splits the requests of a connection into heads and bodies, and adds `line` to each head. */
export class HeaderAdder {
  #line;
  #pending = Buffer.alloc(0);
  #body = 0;

  constructor(line) {
    this.#line = Buffer.from(`\r\n${line}`, 'latin1');
  }

  /** Takes received bytes and returns the bytes to send. Throws if it cannot split the requests. */
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

/** Listens on a free port and forwards to `port`, with `token` added to each request. */
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
    // The client itself reports a broken connection.
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
