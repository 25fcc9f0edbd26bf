// oauth4webapi: each step on its own, with every response checked against its specification. Signed access tokens are checked
// as a resource server does (RFC 9068), with the published keys.
import assert from 'node:assert/strict';
import * as oauth from 'oauth4webapi';
import { redirectUri } from '../lib/person.mjs';
import { resource } from '../lib/resource.mjs';

// The service is on this machine, without TLS.
const options = { [oauth.allowInsecureRequests]: true };
const { url, request: { method, headers, body } } = resource;
const call = (token) => oauth.protectedResourceRequest(token, method, url, headers, body, options);

// The challenge links the resource's metadata, which are the same at the well-known URL.
const { cause: [challenge] } = await call('no-token').catch((error) => error);
assert.equal(challenge.scheme, 'bearer');
const found = await fetch(challenge.parameters.resource_metadata);
const resourceServer = await oauth.processResourceDiscoveryResponse(url, found);
const wellKnown = await oauth.resourceDiscoveryRequest(url, options);
assert.deepEqual(await oauth.processResourceDiscoveryResponse(url, wellKnown), resourceServer);

const issuer = new URL(resourceServer.authorization_servers[0]);
const discovered = await oauth.discoveryRequest(issuer, { ...options, algorithm: 'oauth2' });
const server = await oauth.processDiscoveryResponse(issuer, discovered);

const metadata = {
  client_name: 'oauth4webapi',
  redirect_uris: [redirectUri],
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
  token_endpoint_auth_method: 'none',
};
const registered = await oauth.dynamicClientRegistrationRequest(server, metadata, options);
const client = await oauth.processDynamicClientRegistrationResponse(registered);
const authentication = oauth.None();

const verifier = oauth.generateRandomCodeVerifier();
const state = oauth.generateRandomState();
const authorizationUrl = new URL(server.authorization_endpoint);
authorizationUrl.search = new URLSearchParams({
  client_id: client.client_id,
  redirect_uri: redirectUri,
  response_type: 'code',
  scope: challenge.parameters.scope,
  resource: resourceServer.resource,
  state,
  code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
  code_challenge_method: 'S256',
});
const redirected = await resource.person.allow(authorizationUrl);
const callback = oauth.validateAuthResponse(server, client, redirected, state);
const request = { ...options, additionalParameters: { resource: resourceServer.resource } };
const redeemed = await oauth.authorizationCodeGrantRequest(
  server, client, authentication, callback, redirectUri, verifier, request,
);
const tokens = await oauth.processAuthorizationCodeResponse(server, client, redeemed);
await resource.check(await call(tokens.access_token));

assert.equal(server.jwks_uri !== undefined, resource.hasSignedTokens);
if (resource.hasSignedTokens) {
  const presented = new Request(url, { headers: { authorization: `Bearer ${tokens.access_token}` } });
  const claims = await oauth.validateJwtAccessToken(server, presented, resourceServer.resource, options);
  assert.equal(claims.client_id, client.client_id);
  assert.equal(claims.scope, challenge.parameters.scope);
}

const refresh = async (token) => {
  const answer = await oauth.refreshTokenGrantRequest(server, client, authentication, token, request);
  return oauth.processRefreshTokenResponse(server, client, answer);
};
const refreshed = await refresh(tokens.refresh_token);
assert.notEqual(refreshed.refresh_token, tokens.refresh_token);
await resource.check(await call(refreshed.access_token));

// A replaced token that is used again at once, as by a concurrent process, is refused, but the grant stays.
await assert.rejects(refresh(tokens.refresh_token), { error: 'invalid_grant' });
await resource.check(await call(refreshed.access_token));

const revoked = await oauth.revocationRequest(server, client, authentication, refreshed.refresh_token, options);
await oauth.processRevocationResponse(revoked);
await assert.rejects(call(refreshed.access_token), oauth.WWWAuthenticateChallengeError);
await assert.rejects(refresh(refreshed.refresh_token), { error: 'invalid_grant' });
