// A server of the official MCP SDK of the 1.x line with sessions and event streams, its default: `mcp-sdk-1.mjs PORT`.
// It has the tools that every server in this folder has, for the client of `mcp-wire`.
import { createMcpExpressApp } from '@modelcontextprotocol/sdk/server/express.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { EmptyResultSchema, isInitializeRequest } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';

const text = (text) => ({ content: [{ type: 'text', text }] });

function greeter() {
  const server = new McpServer({ name: 'greeter', version: '1' });
  server.registerTool('greet', { inputSchema: { name: z.string() } }, ({ name }) => text(`Hello, ${name}!`));
  server.registerTool('count', { inputSchema: { to: z.int() } }, async ({ to }, { _meta: meta, sendNotification }) => {
    for (let progress = 1; progress <= to; progress += 1) {
      const params = { progressToken: meta.progressToken, progress, total: to };
      await sendNotification({ method: 'notifications/progress', params });
    }
    return text(`Counted to ${to}.`);
  });
  server.registerTool('fail', {}, () => {
    throw new Error('It failed on purpose.');
  });
  server.registerTool('ping', {}, async ({ sendRequest }) => {
    await sendRequest({ method: 'ping' }, EmptyResultSchema);
    return text('The client replied.');
  });
  return server;
}

/** The transport of each session. */
const sessions = new Map();

/** A transport that opens a session with its first request. */
async function open() {
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: () => crypto.randomUUID(),
    onsessioninitialized: (id) => void sessions.set(id, transport),
    onsessionclosed: (id) => void sessions.delete(id),
  });
  await greeter().connect(transport);
  return transport;
}

const app = createMcpExpressApp();
app.all('/mcp', async (request, response) => {
  const id = request.headers['mcp-session-id'];
  const transport = id || !isInitializeRequest(request.body) ? sessions.get(id) : await open();
  if (transport) await transport.handleRequest(request, response, request.body);
  else response.status(id ? 404 : 400).json({ jsonrpc: '2.0', id: null, error: { code: -32_000, message: 'No session' } });
});
app.listen(Number(process.argv[2]), '127.0.0.1');
