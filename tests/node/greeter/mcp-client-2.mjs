// The official MCP client of the 2.x line in each of its modes and revisions.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { greeterUrl, useGreeter } from '../lib/greeter.mjs';

const NEWEST = '2026-07-28';
const LEGACY = ['2025-11-25', '2025-06-18', '2025-03-26'];

for (const [revision, options] of [
  [NEWEST, { versionNegotiation: { mode: 'auto' } }],
  [NEWEST, { versionNegotiation: { mode: { pin: NEWEST } } }],
  ...LEGACY.map((revision) => [
    revision,
    { versionNegotiation: { mode: 'legacy' }, supportedProtocolVersions: [revision] },
  ]),
]) {
  const client = new Client({ name: 'client-2', version: '1' }, options);
  await useGreeter(client, new StreamableHTTPClientTransport(greeterUrl), revision);
}
