// Connecting an app: sign-in, the consent form, and the redirect to the app, for every kind of app.

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { once } from 'node:events';
import { after } from 'node:test';
import { App } from './support/app.mjs';
import { World } from './support/harness.mjs';
import { consentForm, press, signIn, words } from './support/pages.mjs';
import { page as smallPage } from './support/watch.mjs';

const world = await World.forTests();
const person = await world.newAccount();
/** A program on the user's machine that waits for the redirect. */
const listener = createServer((request, reply) => {
  const { headers, body } = smallPage('Back in the program');
  reply.writeHead(200, headers).end(body);
}).listen(0, '127.0.0.1');
await once(listener, 'listening');
const { port } = listener.address();
after(() => listener.close());

/** Opens the consent form of an app after signing in. */
async function atConsent(visit, app) {
  const response = await visit.open(app.authorizePath());
  assert.equal(response.status(), 200);
  assert.ok((await words(visit.page)).includes(app.name));
  assert.equal((await signIn(visit.page, person)).status(), 200);
  return consentForm(visit.page);
}

/** Checks the authorization response to an app. */
async function checkRedirect(app, url, decision) {
  const [base, query] = url.split('?');
  assert.equal(base, app.redirectUri);
  const answer = Object.fromEntries(new URLSearchParams(query));
  assert.equal(answer.state, app.state);
  assert.equal(answer.iss, world.service.issuer);
  if (decision === 'allow') {
    assert.equal(answer.error, undefined);
    assert.equal(await app.call(await app.redeem(answer.code)), 200);
  } else {
    assert.equal(answer.error, 'access_denied');
    assert.equal(answer.code, undefined);
  }
}

/** Redirect URIs of apps. The browser answers for those that are `played`. The others lead to a real server. */
const web = [
  { kind: 'on the web', redirectUri: 'https://client.example/callback', played: true },
  { kind: 'on the web, at a port', redirectUri: 'https://client.example:8443/callback', played: true },
  { kind: 'on the user’s machine', redirectUri: `http://127.0.0.1:${port}/callback` },
  { kind: 'on the user’s machine, by name', redirectUri: `http://localhost:${port}/callback` },
  { kind: 'on the user’s machine, by IPv6', redirectUri: 'http://[::1]:43210/callback', played: true },
];
const schemes = ['myapp://callback', 'com.example.app:/callback'];

for (const decision of ['allow', 'deny']) {
  for (const { kind, redirectUri, played } of web) {
    world.flow(`${decision}: an app ${kind} gets its response`, async (visit) => {
      const app = await App.register(world.service, redirectUri);
      if (played) await visit.watch.play(app.redirectUri);
      else visit.watch.allowOrigin(app.redirectUri);
      const form = await atConsent(visit, app);
      assert.ok((await words(visit.page)).includes(new URL(app.redirectUri).host), 'the form names the host');
      const answer = await press(visit.page, form[decision]);
      assert.equal(answer.status(), 200);
      await checkRedirect(app, visit.page.url(), decision);
    });
  }

  for (const redirectUri of schemes) {
    world.flow(`${decision}: a native app at ${redirectUri} gets its response`, async (visit) => {
      const { page, watch } = visit;
      const app = await App.register(world.service, redirectUri);
      const form = await atConsent(visit, app);
      const scheme = redirectUri.split(':')[0];
      assert.ok((await words(page)).includes(`${scheme}:`), 'the form names the scheme');
      watch.allowOrigin(`${scheme}:`);
      const asked = page.waitForRequest((request) => request.url().startsWith(`${scheme}:`));
      await form[decision].click();
      const request = await asked;
      // No program on this machine opens the URL; the browser ignores it silently.
      assert.equal(request.redirectedFrom().method(), 'POST');
      await checkRedirect(app, request.url(), decision);
    });
  }
}

world.flow('a callback may redirect to another host', async (visit) => {
  const { page, watch } = visit;
  const app = await App.register(world.service, 'https://client.example/callback');
  const onwards = 'https://chat.example.net/connected';
  const redirect = { status: 302, headers: { location: onwards }, body: '' };
  await watch.play(app.redirectUri, { [app.redirectUri]: redirect });
  await watch.play(onwards);
  const form = await atConsent(visit, app);
  await press(page, form.allow);
  assert.equal(page.url(), onwards);
});

world.flow('the name of an app is shown as text beside its host', async (visit) => {
  const name = '<b onclick="alert(1)">Bank</b> & <script>alert(2)</script>';
  const app = await App.register(world.service, 'https://client.example/callback', name);
  await atConsent(visit, app);
  const text = await words(visit.page);
  assert.ok(text.includes(name), text);
  for (const expect of ['client.example', person.email, `${world.service.origin}/api/mcp/v1`]) {
    assert.ok(text.includes(expect), expect);
  }
  assert.equal(await visit.page.locator('b, script').count(), 0);
});

world.flow('a warning is shown for apps on the user’s device', async (visit) => {
  const { page, watch } = visit;
  const local = await App.register(world.service, `http://127.0.0.1:${port}/callback`, 'Local tool');
  await atConsent(visit, local);
  assert.match(await words(page), /any program can use its name and receive your answer/);
  const native = await App.register(world.service, 'com.example.app:/callback', 'Native tool');
  await visit.open(native.authorizePath());
  assert.match(await words(page), /any program can use its name and receive your answer/);
  const remote = await App.register(world.service, 'https://client.example/callback', 'Remote tool');
  await watch.play(remote.redirectUri);
  await visit.open(remote.authorizePath());
  assert.doesNotMatch(await words(page), /any program can/);
});

world.flow('a signed-in person sees the consent form at once, and can use another account', async (visit) => {
  const { page } = visit;
  const app = await App.register(world.service, 'https://client.example/callback');
  const other = await world.newAccount();
  await visit.signIn(other);
  await visit.open(app.authorizePath());
  assert.ok((await words(page)).includes(other.email));
  await press(page, page.getByRole('button', { name: 'Use another account' }));
  assert.equal((await signIn(page, person)).status(), 200);
  assert.ok((await words(page)).includes(person.email));
  assert.ok(await consentForm(page).allow.isVisible());
});

world.flow('a wrong password keeps the authorization request', async (visit) => {
  const { page, watch } = visit;
  const app = await App.register(world.service, 'https://client.example/callback');
  await watch.play(app.redirectUri);
  await visit.open(app.authorizePath());
  assert.equal((await signIn(page, { ...person, password: 'wrong' })).status(), 401);
  await watch.takesStatus(401);
  await signIn(page, person);
  await press(page, consentForm(page).allow);
  await checkRedirect(app, page.url(), 'allow');
});

world.flow('an unknown app or redirect URI is shown to the person, without a redirect', async (visit) => {
  const { page, watch } = visit;
  const app = await App.register(world.service, 'https://client.example/callback');
  for (const change of [
    { client_id: 'nobody' },
    { client_id: undefined },
    { redirect_uri: 'https://evil.example/callback' },
    { redirect_uri: undefined },
  ]) {
    const answer = await visit.open(app.authorizePath(change));
    assert.equal(answer.status(), 400, JSON.stringify(change));
    await watch.takesStatus(400);
    assert.equal(await page.getByRole('heading', { level: 1 }).innerText(), 'This app cannot be connected');
    assert.equal(await page.locator('form, a[href*="evil"]').count(), 0);
  }
});

world.flow('other errors in a request are returned to the app', async (visit) => {
  const app = await App.register(world.service, 'https://client.example/callback');
  await visit.watch.play(app.redirectUri);
  await visit.open(app.authorizePath({ response_type: 'token' }));
  const answer = new URL(visit.page.url()).searchParams;
  assert.equal(answer.get('error'), 'invalid_request');
  assert.ok(answer.get('error_description'));
  assert.equal(answer.get('state'), app.state);
  assert.equal(answer.get('iss'), world.service.issuer);
});
