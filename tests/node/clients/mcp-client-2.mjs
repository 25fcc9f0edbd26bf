// The official MCP client of the 2.x line: asks for the newest revision, and takes an older one where there is none.
import { Client, StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client';
import { useFromBareUrl } from '../lib/mcp-sdk.mjs';

await useFromBareUrl({
  UnauthorizedError,
  client: () => new Client({ name: 'client-2', version: '1' }, { versionNegotiation: { mode: 'auto' } }),
  transport: (url, authProvider) => new StreamableHTTPClientTransport(url, { authProvider }),
  // This line checks `iss` in what comes back, too.
  finish: (transport, redirected) => transport.finishAuth(redirected.searchParams),
});
