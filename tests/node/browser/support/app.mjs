// An app that connects: the HTTP requests of an OAuth client.

import { createHash, randomBytes } from 'node:crypto';

export const RESOURCE = '/api/mcp/v1';

export class App {
  #service;
  #verifier = randomBytes(32).toString('base64url');
  /** The service must return special characters unchanged. */
  state = `a state/with+odd &characters ${randomBytes(4).toString('hex')}`;

  /** Registers with the service. */
  static async register(service, redirectUri, name = 'Test app') {
    const app = new App();
    app.#service = service;
    app.redirectUri = redirectUri;
    app.name = name;
    const answer = await service.fetch('/api/oauth/register', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ client_name: name, redirect_uris: [redirectUri] }),
    });
    if (answer.status !== 201) throw new Error(`not registered: ${answer.status} ${await answer.text()}`);
    app.id = (await answer.json()).client_id;
    return app;
  }

  /** The path of the authorization request. `changes` replace parameters; `undefined` removes one. */
  authorizePath(changes = {}) {
    const parameters = {
      response_type: 'code',
      client_id: this.id,
      redirect_uri: this.redirectUri,
      code_challenge: createHash('sha256').update(this.#verifier).digest('base64url'),
      code_challenge_method: 'S256',
      resource: `${this.#service.origin}${RESOURCE}`,
      state: this.state,
      ...changes,
    };
    const given = Object.entries(parameters).filter(([, value]) => value !== undefined);
    return `/api/oauth/authorize?${new URLSearchParams(given)}`;
  }

  /** Redeems a code for an access token. */
  async redeem(code) {
    const fields = {
      grant_type: 'authorization_code',
      code,
      redirect_uri: this.redirectUri,
      code_verifier: this.#verifier,
      client_id: this.id,
    };
    const answer = await this.#service.fetch('/api/oauth/token', { method: 'POST', body: new URLSearchParams(fields) });
    if (answer.status !== 200) throw new Error(`no token: ${answer.status} ${await answer.text()}`);
    return (await answer.json()).access_token;
  }

  /** The HTTP status of a call with this token. */
  async call(token) {
    const answer = await this.#service.fetch(RESOURCE, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        accept: 'application/json, text/event-stream',
        'content-type': 'application/json',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }),
    });
    await answer.text();
    return answer.status;
  }
}
