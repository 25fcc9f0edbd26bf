// The official MCP SDK of the 1.x line: the protocol revisions with `initialize`.
import { UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { useFromBareUrl } from '../lib/mcp-sdk.mjs';

await useFromBareUrl({
  UnauthorizedError,
  client: () => new Client({ name: 'sdk-1', version: '1' }),
  transport: (url, authProvider) => new StreamableHTTPClientTransport(url, { authProvider }),
  finish: (transport, redirected) => transport.finishAuth(redirected.searchParams.get('code')),
});
