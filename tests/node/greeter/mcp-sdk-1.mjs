// The official MCP SDK of the 1.x line. It asks for the newest revision with `initialize`.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { greeterUrl, useGreeter } from '../lib/greeter.mjs';

const client = new Client({ name: 'sdk-1', version: '1' });
await useGreeter(client, new StreamableHTTPClientTransport(greeterUrl), '2025-11-25');
