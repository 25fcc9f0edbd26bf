import assert from 'node:assert/strict';
import { connect, createServer } from 'node:net';
import { test } from 'node:test';
import { HeaderAdder, startProxy } from './proxy.mjs';

const REQUESTS =
  'POST /a HTTP/1.1\r\nhOsT: evil.example\r\nMcp-Name:   spaced  \r\nContent-Length: 7\r\n\r\n{\r\n\r\n} ' +
  'GET /b HTTP/1.1\r\nHost: x\r\n\r\n' +
  'POST /c HTTP/1.1\r\ncontent-length:2\r\n\r\n{}';
const EXPECTED = REQUESTS.replace('7\r\n\r\n', '7\r\nX: y\r\n\r\n')
  .replace('Host: x\r\n\r\n', 'Host: x\r\nX: y\r\n\r\n')
  .replace(':2\r\n\r\n', ':2\r\nX: y\r\n\r\n');

test('only a line is added to each request, whatever the size of the pieces', () => {
  for (let size = 1; size <= REQUESTS.length; size += 1) {
    const adder = new HeaderAdder('X: y');
    let out = '';
    for (let at = 0; at < REQUESTS.length; at += size) out += adder.take(Buffer.from(REQUESTS.slice(at, at + size)));
    assert.equal(out, EXPECTED, `in pieces of ${size}`);
  }
});

test('requests that cannot be split are refused', () => {
  for (const headers of [
    'Transfer-Encoding: chunked',
    'Authorization: Bearer own',
    'Content-Length: 1\r\nContent-Length: 2',
    'Content-Length: -1',
    'Content-Length: 1e3',
  ]) {
    assert.throws(() => new HeaderAdder('X: y').take(Buffer.from(`POST / HTTP/1.1\r\n${headers}\r\n\r\n`)), headers);
  }
  assert.throws(() => new HeaderAdder('X: y').take(Buffer.alloc(100_000, 'a')), 'endless');
});

test('the proxy forwards both directions and adds the token', async (context) => {
  const server = createServer((socket) => {
    let seen = '';
    socket.on('data', (bytes) => {
      seen += bytes;
      if (seen.endsWith('\r\n\r\n')) socket.end(seen);
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const proxy = await startProxy(server.address().port, 'secret');
  context.after(() => (proxy.close(), server.close()));
  const client = connect(proxy.port, '127.0.0.1');
  client.write('GET /echo HTTP/1.1\r\nHost: evil.example\r\n\r\n');
  let answer = '';
  for await (const bytes of client) answer += bytes;
  assert.equal(answer, 'GET /echo HTTP/1.1\r\nHost: evil.example\r\nAuthorization: Bearer secret\r\n\r\n');
});
