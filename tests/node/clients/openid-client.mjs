// openid-client, a certified client library, with each client authentication method that the server announces.
import assert from 'node:assert/strict';
import * as client from 'openid-client';
import { checkToolAnswer, mcpUrl, person, redirectUri, toolCall } from '../lib/service.mjs';

const user = person();
const resource = mcpUrl.href;
// It does not read the resource's metadata.
const resourceMetadata = await fetch(new URL(`/.well-known/oauth-protected-resource${mcpUrl.pathname}`, mcpUrl));
const { authorization_servers: [issuer], scopes_supported: scopes } = await resourceMetadata.json();

const methods = {
  none: client.None,
  client_secret_basic: client.ClientSecretBasic,
  client_secret_post: client.ClientSecretPost,
};
for (const [method, authentication] of Object.entries(methods)) {
  const metadata = {
    client_name: `openid-client with ${method}`,
    redirect_uris: [redirectUri],
    grant_types: ['authorization_code', 'refresh_token'],
    token_endpoint_auth_method: method,
  };
  // The service is on this machine, without TLS.
  const options = { algorithm: 'oauth2', execute: [client.allowInsecureRequests] };
  const config = await client.dynamicClientRegistration(new URL(issuer), metadata, authentication(), options);
  assert.ok(config.serverMetadata().supportsPKCE());

  const verifier = client.randomPKCECodeVerifier();
  const state = client.randomState();
  const authorizationUrl = client.buildAuthorizationUrl(config, {
    redirect_uri: redirectUri,
    scope: scopes.join(' '),
    resource,
    state,
    code_challenge: await client.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  });
  const redirected = await user.allow(authorizationUrl);
  const checks = { pkceCodeVerifier: verifier, expectedState: state };
  const tokens = await client.authorizationCodeGrant(config, redirected, checks, { resource });
  const call = (token) =>
    client.fetchProtectedResource(config, token, mcpUrl, 'POST', toolCall.body, toolCall.headers);
  await checkToolAnswer(await call(tokens.access_token));

  const refreshed = await client.refreshTokenGrant(config, tokens.refresh_token, { resource });
  assert.notEqual(refreshed.refresh_token, tokens.refresh_token);
  await checkToolAnswer(await call(refreshed.access_token));

  await client.tokenRevocation(config, refreshed.refresh_token);
  await assert.rejects(call(refreshed.access_token), { code: 'OAUTH_WWW_AUTHENTICATE_CHALLENGE' });
  await assert.rejects(client.refreshTokenGrant(config, refreshed.refresh_token), { error: 'invalid_grant' });
}
