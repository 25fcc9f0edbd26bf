// The common steps for both lines of the MCP SDK. The SDK sends every request; this file has only the app's parts: a token
// store and the user.
import assert from 'node:assert/strict';
import { redirectUri } from './person.mjs';
import { checkPhotos, mcpUrl, person } from './service.mjs';
import { GALLERY, checkGallery, checkToolList, usePrompts, useTools } from './tools.mjs';

/** The app's token store and its redirect to the user. */
class Provider {
  redirectUrl = redirectUri;
  clientMetadata = {
    client_name: 'An app with the MCP SDK',
    redirect_uris: [redirectUri],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  };
  /** The last authorization URL. */
  authorizationUrl;
  stored = {};

  state = () => (this.stored.state = crypto.randomUUID());
  clientInformation = () => this.stored.client;
  saveClientInformation = (client) => void (this.stored.client = client);
  tokens = () => this.stored.tokens;
  saveTokens = (tokens) => void (this.stored.tokens = tokens);
  codeVerifier = () => this.stored.verifier;
  saveCodeVerifier = (verifier) => void (this.stored.verifier = verifier);
  redirectToAuthorization = (url) => void (this.authorizationUrl = url);
  discoveryState = () => this.stored.discovery;
  saveDiscoveryState = (discovery) => void (this.stored.discovery = discovery);
  invalidateCredentials = (scope) => {
    if (scope === 'all' || scope === 'client') delete this.stored.client;
    if (scope === 'all' || scope === 'tokens') delete this.stored.tokens;
    if (scope === 'all' || scope === 'discovery') delete this.stored.discovery;
  };
}

/** The client's own validator of structured content. Counts valid results. */
class CountingValidator {
  count = 0;
  #validator;

  constructor(validator) {
    this.#validator = validator;
  }

  getValidator(schema) {
    const validate = this.#validator.getValidator(schema);
    return (value) => {
      const verdict = validate(value);
      if (verdict.valid) this.count += 1;
      return verdict;
    };
  }
}

/**
 * Discovery, registration, consent, every tool and prompt, the photo app, a refresh, and consent again after the grant was revoked.
 * `sdk` has functions that create a client, a transport and a validator, the function that passes the redirect to the
 * transport, the error that means that consent is needed, and the expected protocol revision.
 */
export async function useFromBareUrl(sdk, url = mcpUrl) {
  const user = person();
  const provider = new Provider();
  const validator = new CountingValidator(sdk.validator());

  /** Connects a client after consent. */
  async function connectWithConsent() {
    const refused = sdk.transport(url, provider);
    await assert.rejects(sdk.client({ jsonSchemaValidator: validator }).connect(refused), sdk.UnauthorizedError);
    const redirected = await user.allow(provider.authorizationUrl);
    assert.equal(redirected.searchParams.get('state'), provider.stored.state);
    await sdk.finish(refused, redirected);
    const client = sdk.client({ jsonSchemaValidator: validator });
    await client.connect(sdk.transport(url, provider));
    return client;
  }
  const call = (client) => client.callTool({ name: 'list_images', arguments: { limit: 1 } });

  const client = await connectWithConsent();
  const revision = client.getNegotiatedProtocolVersion?.() ?? client.transport.protocolVersion;
  assert.equal(revision, sdk.revision);
  const { tools } = await client.listTools();
  checkToolList(tools, url);
  const worked = await useTools((name, args) => client.callTool({ name, arguments: args }), url);
  // The client itself validates results against the output schemas.
  assert.equal(validator.count, url.pathname.endsWith('/v2') ? worked : 0);
  checkGallery(await client.listResources(), await client.readResource({ uri: GALLERY }), url);
  const { prompts } = await client.listPrompts();
  await usePrompts(prompts, (name, args) => client.getPrompt({ name, arguments: args }), url);
  console.log(`${url.pathname} in ${revision}: ${tools.length} tools, ${worked} calls, ${validator.count} validated`);

  // After a refused token the client refreshes without consent.
  const { access_token: first, refresh_token: firstRefresh } = provider.stored.tokens;
  provider.stored.tokens = { ...provider.stored.tokens, access_token: 'invalid' };
  await checkPhotos(await call(client));
  assert.notEqual(provider.stored.tokens.access_token, first);
  assert.notEqual(provider.stored.tokens.refresh_token, firstRefresh);
  assert.equal(user.consents, 1);

  // The SDK has no function to revoke a grant.
  const { revocation_endpoint: revocation } = await metadataOfServer();
  const form = { token: provider.stored.tokens.refresh_token, client_id: provider.stored.client.client_id };
  assert.equal((await fetch(revocation, { method: 'POST', body: new URLSearchParams(form) })).status, 200);
  const registered = provider.stored.client.client_id;
  await assert.rejects(call(client), sdk.UnauthorizedError);
  await client.close();
  const again = await connectWithConsent();
  await checkPhotos(await call(again));
  assert.equal(provider.stored.client.client_id, registered, 'the registration outlives the grant');
  await again.close();
}

async function metadataOfServer() {
  const url = new URL('/.well-known/oauth-authorization-server/api', mcpUrl);
  return (await fetch(url)).json();
}
