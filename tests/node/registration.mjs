// Sends the registration of a well-known app from a file. The service accepts all of it, and each redirect URI gets a code,
// which is redeemed for tokens that work for a tool.
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { checkToolAnswer, mcpUrl, person, toolCall } from './lib/service.mjs';

const { registration } = JSON.parse(await readFile(process.argv[2], 'utf8'));
const user = person();
const server = await (await fetch(new URL('/.well-known/oauth-authorization-server/api', mcpUrl))).json();

const register = async () => {
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify(registration);
  const answer = await fetch(server.registration_endpoint, { method: 'POST', headers, body });
  const text = await answer.text();
  assert.equal(answer.status, 201, text);
  return JSON.parse(text);
};
const client = await register();
assert.deepEqual(client.redirect_uris, registration.redirect_uris);
const method = client.token_endpoint_auth_method;
assert.equal(method, registration.token_endpoint_auth_method ?? 'none');
const again = await register();
assert.equal(again.client_id === client.client_id, method === 'none', 'a public client is registered once');

/** Requests tokens with the registered client authentication. */
async function token(fields) {
  const body = new URLSearchParams({ client_id: client.client_id, ...fields });
  const headers = {};
  if (method === 'client_secret_post') body.set('client_secret', client.client_secret);
  if (method === 'client_secret_basic') {
    const pair = Buffer.from(`${client.client_id}:${client.client_secret}`).toString('base64');
    headers.authorization = `Basic ${pair}`;
    body.delete('client_id');
  }
  const answer = await fetch(server.token_endpoint, { method: 'POST', headers, body });
  const text = await answer.text();
  assert.equal(answer.status, 200, text);
  return JSON.parse(text);
}

async function checkAccess({ access_token: accessToken }) {
  const headers = new Headers(toolCall.headers);
  headers.set('authorization', `Bearer ${accessToken}`);
  await checkToolAnswer(await fetch(mcpUrl, { method: 'POST', headers, body: toolCall.body }));
}

for (const redirectUri of registration.redirect_uris) {
  const verifier = randomBytes(32).toString('base64url');
  const state = randomBytes(16).toString('base64url');
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: client.client_id,
    redirect_uri: redirectUri,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    resource: mcpUrl.href,
    state,
  });
  if (registration.scope) query.set('scope', registration.scope);
  const redirected = await user.allow(`${server.authorization_endpoint}?${query}`);
  assert.ok(redirected.href.startsWith(new URL(redirectUri).href), `${redirected} is not ${redirectUri}`);
  assert.equal(redirected.searchParams.get('state'), state);
  assert.equal(redirected.searchParams.get('iss'), server.issuer);
  const tokens = await token({
    grant_type: 'authorization_code',
    code: redirected.searchParams.get('code'),
    code_verifier: verifier,
    redirect_uri: redirectUri,
  });
  await checkAccess(tokens);
  const refreshes = registration.grant_types?.includes('refresh_token') ?? true;
  assert.equal('refresh_token' in tokens, refreshes);
  if (refreshes) {
    await checkAccess(await token({ grant_type: 'refresh_token', refresh_token: tokens.refresh_token }));
  }
}
assert.equal(user.consents, registration.redirect_uris.length);
