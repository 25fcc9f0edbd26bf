// openid-client, a certified client library, with each client authentication method that the server announces.
import assert from 'node:assert/strict';
import * as client from 'openid-client';
import { redirectUri } from '../lib/person.mjs';
import { resource } from '../lib/resource.mjs';

const { url, request: { method, headers, body } } = resource;
// The library does not read the resource's metadata, so this test follows the link in the challenge itself.
const challenge = (await fetch(url, { method, headers, body })).headers.get('www-authenticate');
const resourceMetadata = await fetch(/resource_metadata="([^"]+)"/.exec(challenge)[1]);
const {
  resource: resourceId,
  authorization_servers: [issuer],
  scopes_supported: scopes,
} = await resourceMetadata.json();

const methods = {
  none: client.None,
  client_secret_basic: client.ClientSecretBasic,
  client_secret_post: client.ClientSecretPost,
};
for (const [authenticationMethod, authentication] of Object.entries(methods)) {
  const metadata = {
    client_name: `openid-client with ${authenticationMethod}`,
    redirect_uris: [redirectUri],
    grant_types: ['authorization_code', 'refresh_token'],
    token_endpoint_auth_method: authenticationMethod,
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
    resource: resourceId,
    state,
    code_challenge: await client.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  });
  const redirected = await resource.person.allow(authorizationUrl);
  const checks = { pkceCodeVerifier: verifier, expectedState: state };
  const tokens = await client.authorizationCodeGrant(config, redirected, checks, { resource: resourceId });
  const call = (token) => client.fetchProtectedResource(config, token, url, method, body, headers);
  await resource.check(await call(tokens.access_token));

  const refresh = (token) => client.refreshTokenGrant(config, token, { resource: resourceId });
  const refreshed = await refresh(tokens.refresh_token);
  assert.notEqual(refreshed.refresh_token, tokens.refresh_token);
  await resource.check(await call(refreshed.access_token));

  // A replaced token that is used again at once, as by a concurrent process, is refused, but the grant stays.
  await assert.rejects(refresh(tokens.refresh_token), { error: 'invalid_grant' });
  await resource.check(await call(refreshed.access_token));

  await client.tokenRevocation(config, refreshed.refresh_token);
  await assert.rejects(call(refreshed.access_token), { code: 'OAUTH_WWW_AUTHENTICATE_CHALLENGE' });
  await assert.rejects(refresh(refreshed.refresh_token), { error: 'invalid_grant' });
}
