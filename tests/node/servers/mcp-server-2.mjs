// A server of the official MCP server package of the 2.x line with its default settings: `mcp-server-2.mjs PORT`. It has no
// sessions, and an event stream if a tool reports progress.
// It has the tools that every server in this folder has, for the client of `mcp-wire`.
import { createServer } from 'node:http';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { McpServer, createMcpHandler } from '@modelcontextprotocol/server';
import { z } from 'zod';

const text = (text) => ({ content: [{ type: 'text', text }] });

function greeter() {
  const server = new McpServer({ name: 'greeter', version: '1' });
  server.registerTool('greet', { inputSchema: z.object({ name: z.string() }) }, ({ name }) => text(`Hello, ${name}!`));
  server.registerTool('count', { inputSchema: z.object({ to: z.int() }) }, async ({ to }, { mcpReq }) => {
    for (let progress = 1; progress <= to; progress += 1) {
      const params = { progressToken: mcpReq._meta.progressToken, progress, total: to };
      await mcpReq.notify({ method: 'notifications/progress', params });
    }
    return text(`Counted to ${to}.`);
  });
  server.registerTool('fail', {}, () => {
    throw new Error('It failed on purpose.');
  });
  server.registerTool('ping', {}, async ({ mcpReq }) => {
    await mcpReq.send({ method: 'ping' });
    return text('The client replied.');
  });
  return server;
}

createServer(toNodeHandler(createMcpHandler(greeter))).listen(Number(process.argv[2]), '127.0.0.1');
