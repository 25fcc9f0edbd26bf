// Tests of the class Watch: it reports every kind of complaint and every request to another host.

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { once } from 'node:events';
import { after } from 'node:test';
import { World } from './support/harness.mjs';
import { page as smallPage } from './support/watch.mjs';

const world = await World.forTests();
const POLICY = "default-src 'none'; img-src data:; form-action 'self'";
/** The redirect of each form, and the additional origins in the policy of its page. */
const ways = {
  '/to-app': { to: 'myapp://callback?code=1', allows: '' },
  '/to-app-allowed': { to: 'myapp://callback?code=1', allows: ' myapp:' },
  '/to-web': { to: 'https://client.example/callback?code=1', allows: '' },
};

const site = createServer((request, reply) => {
  const way = ways[request.url];
  if (request.method === 'POST') return reply.writeHead(303, { location: way.to }).end();
  const { headers, body } = smallPage('A form', '<form method="post"><button>Send</button></form>');
  reply.writeHead(200, { ...headers, 'content-security-policy': `${POLICY}${way?.allows ?? ''}` }).end(body);
}).listen(0, '127.0.0.1');
await once(site, 'listening');
const origin = `http://127.0.0.1:${site.address().port}`;
after(() => site.close());

async function sent(visit, path) {
  visit.watch.allowOrigin(origin);
  await visit.page.goto(`${origin}${path}`);
  await visit.page.getByRole('button').click();
}

for (const path of ['/to-app', '/to-web']) {
  world.flow(`a form redirect that the policy forbids is reported (${path})`, async (visit) => {
    await sent(visit, path);
    await visit.watch.takes(/^console: .*violates the following Content Security Policy directive: "form-action/);
    await visit.watch.takes(/^issue: ContentSecurityPolicyIssue .*"form-action"/);
  });
}

world.flow('a form redirect that the policy allows is not reported', async (visit) => {
  const asked = visit.page.waitForRequest('myapp://**');
  await sent(visit, '/to-app-allowed');
  assert.equal((await asked).url(), ways['/to-app-allowed'].to);
  visit.watch.allowOrigin('myapp:');
});

world.flow('a request to another host is reported', async (visit) => {
  await visit.page.goto(`${origin}/`);
  await assert.rejects(visit.watch.check(), /requests to other hosts/);
  visit.watch.allowOrigin(origin);
});

world.test('a failing script is reported', {}, async (visit) => {
  await visit.open('/sign-in');
  await visit.page.evaluate(() => setTimeout(() => nothing()));
  await visit.watch.takes(/^uncaught: ReferenceError/);
});

world.test('a style that the policy forbids is reported', {}, async (visit) => {
  await visit.open('/sign-in');
  await visit.page.evaluate(() => document.body.insertAdjacentHTML('beforeend', '<p style="color: red">red</p>'));
  await visit.watch.takes(/^console: .*style-src/);
  await visit.watch.takes(/^issue: ContentSecurityPolicyIssue/);
});
