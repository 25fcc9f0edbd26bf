// An authorization server made with the npm package oidc-provider, which does the same work as the benchmarked server: a
// public client from the store, rotating refresh tokens, access tokens as JWTs signed with Ed25519, and everything durable
// in SQLite before the response. A resource checks such a token and looks up its grant.
//
// Arguments: the SQLite file and the number of grants. The first line of output is JSON: base URL, client and a refresh
// token of each grant. It exits when stdin is closed.

import { createServer } from 'node:http';
import { generateKeyPairSync } from 'node:crypto';
import Database from 'better-sqlite3';
import { createLocalJWKSet, jwtVerify } from 'jose';
import Provider, { errors } from 'oidc-provider';

const [, , file, grants] = process.argv;
const SCOPE = 'mcp:images';
const CLIENT = 'bench';
const HOUR_S = 3600;

const db = new Database(file);
db.pragma('journal_mode = WAL');
db.pragma('synchronous = FULL');
db.exec(`CREATE TABLE models (
  model TEXT NOT NULL, id TEXT NOT NULL, payload TEXT NOT NULL, grant_id TEXT, expires_at INTEGER, consumed_at INTEGER,
  PRIMARY KEY (model, id)) WITHOUT ROWID;
CREATE INDEX models_of_grants ON models (grant_id) WHERE grant_id IS NOT NULL;`);
const statements = {
  upsert: db.prepare(`INSERT INTO models (model, id, payload, grant_id, expires_at) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (model, id) DO UPDATE SET payload = excluded.payload, grant_id = excluded.grant_id,
    expires_at = excluded.expires_at`),
  find: db.prepare('SELECT payload, consumed_at FROM models WHERE model = ? AND id = ?'),
  consume: db.prepare('UPDATE models SET consumed_at = ? WHERE model = ? AND id = ? AND consumed_at IS NULL'),
  destroy: db.prepare('DELETE FROM models WHERE model = ? AND id = ?'),
  revoke: db.prepare('DELETE FROM models WHERE grant_id = ?'),
};
const nowS = () => Math.floor(Date.now() / 1000);

class SqliteAdapter {
  constructor(model) {
    this.model = model;
  }

  async upsert(id, payload, expiresIn) {
    const expiresAt = expiresIn ? nowS() + expiresIn : null;
    statements.upsert.run(this.model, id, JSON.stringify(payload), payload.grantId ?? null, expiresAt);
  }

  async find(id) {
    const row = statements.find.get(this.model, id);
    if (!row) return undefined;
    const payload = JSON.parse(row.payload);
    return row.consumed_at === null ? payload : { ...payload, consumed: row.consumed_at };
  }

  // Only one of two requests with the same token succeeds.
  async consume(id) {
    if (statements.consume.run(nowS(), this.model, id).changes === 0) throw new errors.InvalidGrant('already used');
  }

  async destroy(id) {
    statements.destroy.run(this.model, id);
  }

  async revokeByGrantId(grantId) {
    statements.revoke.run(grantId);
  }

  // The library requires these functions for flows that this program does not use.
  async findByUid() {
    return undefined;
  }

  async findByUserCode() {
    return undefined;
  }
}

const privateKey = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' });
const jwk = { ...privateKey, kid: 'bench', alg: 'EdDSA', use: 'sig' };

const server = createServer();
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const baseUrl = `http://127.0.0.1:${server.address().port}`;
const resource = `${baseUrl}/mcp`;

const provider = new Provider(baseUrl, {
  adapter: SqliteAdapter,
  jwks: { keys: [jwk] },
  enabledJWA: { idTokenSigningAlgValues: ['EdDSA'] },
  clientDefaults: { id_token_signed_response_alg: 'EdDSA' },
  cookies: { keys: ['bench'] },
  scopes: ['openid', 'offline_access', SCOPE],
  findAccount: async (_ctx, id) => ({ accountId: id, claims: async () => ({ sub: id }) }),
  rotateRefreshToken: true,
  extraTokenClaims: async (_ctx, token) => ({ grant_id: token.grantId }),
  ttl: { AccessToken: HOUR_S, RefreshToken: 30 * 24 * HOUR_S, Grant: 30 * 24 * HOUR_S },
  features: {
    devInteractions: { enabled: false },
    resourceIndicators: {
      enabled: true,
      getResourceServerInfo: async () => ({
        scope: SCOPE,
        audience: resource,
        accessTokenFormat: 'jwt',
        accessTokenTTL: HOUR_S,
        jwt: { sign: { alg: 'EdDSA' } },
      }),
    },
  },
});

// A client as dynamic registration stores it.
await new SqliteAdapter('Client').upsert(CLIENT, {
  client_id: CLIENT,
  client_name: 'Bench',
  token_endpoint_auth_method: 'none',
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
  redirect_uris: ['https://app.example/callback'],
});
const client = await provider.Client.find(CLIENT);
const refreshTokens = [];
for (let number = 0; number < Number(grants); number += 1) {
  const grant = new provider.Grant({ accountId: `user-${number}`, clientId: CLIENT });
  grant.addResourceScope(resource, SCOPE);
  grant.addOIDCScope('offline_access');
  const grantId = await grant.save(30 * 24 * HOUR_S);
  const token = new provider.RefreshToken({
    accountId: `user-${number}`,
    client,
    grantId,
    gty: 'authorization_code',
    resource,
    scope: `offline_access ${SCOPE}`,
    authTime: nowS(),
    rotations: 0,
  });
  refreshTokens.push(await token.save());
}

const { d: _private, ...publicKey } = jwk;
const keys = createLocalJWKSet({ keys: [publicKey] });
const expected = { issuer: baseUrl, audience: resource, typ: 'at+jwt', algorithms: ['EdDSA'] };

async function isAllowed(request) {
  const [scheme, token] = (request.headers.authorization ?? '').split(' ');
  if (scheme !== 'Bearer' || !token) return false;
  const { payload } = await jwtVerify(token, keys, expected);
  const grant = await provider.Grant.find(payload.grant_id);
  return Boolean(grant) && grant.clientId === payload.client_id && grant.accountId === payload.sub
    && payload.scope.split(' ').includes(SCOPE);
}

async function serveResource(request, response) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  let allowed = false;
  try {
    allowed = await isAllowed(request);
  } catch {
    // An invalid token.
  }
  const { id } = JSON.parse(Buffer.concat(chunks).toString());
  const answer = JSON.stringify(allowed ? { jsonrpc: '2.0', id, result: {} } : { error: 'unauthorized' });
  response.writeHead(allowed ? 200 : 401, {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(answer),
  });
  response.end(answer);
}

const authorize = provider.callback();
server.on('request', (request, response) => {
  if (request.url === '/mcp') serveResource(request, response);
  else authorize(request, response);
});
console.log(JSON.stringify({ baseUrl, tokenPath: '/token', resourcePath: '/mcp', client: CLIENT, refreshTokens }));
process.stdin.resume();
process.stdin.on('end', () => process.exit(0));
