// The official MCP client of the 2.x line in each of its modes: automatic, only revisions with `initialize`, and only the
// newest revision.
import { Client, StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/client/validators/ajv';
import { useFromBareUrl } from '../lib/mcp-sdk.mjs';
import { mcpUrl, siblingUrl } from '../lib/service.mjs';

const NEWEST = '2026-07-28';

const inMode = (mode, revision) => ({
  revision,
  UnauthorizedError,
  validator: () => new AjvJsonSchemaValidator(),
  client: (options) => new Client({ name: 'client-2', version: '1' }, { ...options, versionNegotiation: { mode } }),
  transport: (url, authProvider) => new StreamableHTTPClientTransport(url, { authProvider }),
  // The 2.x line also checks `iss` in the redirect.
  finish: (transport, redirected) => transport.finishAuth(redirected.searchParams),
});

for (const sdk of [inMode('auto', NEWEST), inMode('legacy', '2025-11-25'), inMode({ pin: NEWEST }, NEWEST)]) {
  await useFromBareUrl(sdk, mcpUrl);
  await useFromBareUrl(sdk, siblingUrl('v2'));
}
