// The official MCP SDK of the 1.x line: protocol revisions with `initialize`, on all three resources.
import { UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv';
import { useFromBareUrl } from '../lib/mcp-sdk.mjs';
import { mcpUrl, siblingUrl } from '../lib/service.mjs';

const sdk = {
  revision: '2025-11-25',
  UnauthorizedError,
  validator: () => new AjvJsonSchemaValidator(),
  client: (options) => new Client({ name: 'sdk-1', version: '1' }, options),
  transport: (url, authProvider) => new StreamableHTTPClientTransport(url, { authProvider }),
  finish: (transport, redirected) => transport.finishAuth(redirected.searchParams.get('code')),
};

for (const url of [mcpUrl, siblingUrl('v2'), siblingUrl('legacy')]) await useFromBareUrl(sdk, url);
