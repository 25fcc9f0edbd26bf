// Attacks from another site on a signed-in person fail.

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { once } from 'node:events';
import { after } from 'node:test';
import { World } from './support/harness.mjs';
import { words } from './support/pages.mjs';
import { page as smallPage } from './support/watch.mjs';

const world = await World.forTests();
/** A different site than the service, which is at 127.0.0.1. */
const site = createServer((request, reply) => {
  const { headers, body } = smallPage('Another site', contents[request.url]);
  reply.writeHead(200, headers).end(body);
}).listen(0, '127.0.0.1');
await once(site, 'listening');
after(() => site.close());
const origin = `http://localhost:${site.address().port}`;
const { service } = world;
const form = (path, fields) => `<form method="post" action="${service.origin}${path}">${fields}<button>Win</button></form>`;
const contents = {
  '/frame': `<iframe title="The service" src="${service.origin}/account"></iframe>`,
  '/sign-in': form('/sign-in', '<input type="hidden" name="email" value="a@b"><input type="hidden" name="password" value="c">'),
  '/sign-out': form('/sign-out', '<input type="hidden" name="csrf" value="guessed">'),
  '/key': form('/account/keys/create', '<input type="hidden" name="name" value="evil"><input type="hidden" name="csrf" value="guessed">'),
};

world.flow('another site cannot frame a page', async (visit) => {
  const { page, watch } = visit;
  await visit.signIn(await world.newAccount());
  watch.allowOrigin(origin);
  await page.goto(`${origin}/frame`);
  await watch.takes(/^console: .*(frame|Frame).*/);
  await watch.takes(/^issue: ContentSecurityPolicyIssue .*"frame-ancestors"/);
  for (const frame of page.frames().slice(1)) assert.ok(!(await frame.content()).includes('Your account'));
});

for (const path of ['/sign-in', '/sign-out', '/key']) {
  world.flow(`another site cannot submit a form (${path})`, async (visit) => {
    const { page, watch } = visit;
    const person = await world.newAccount();
    await visit.signIn(person);
    watch.allowOrigin(origin);
    await page.goto(`${origin}${path}`);
    const [answer] = await Promise.all([page.waitForNavigation(), page.getByRole('button').click()]);
    assert.equal(answer.status(), 403);
    await watch.takesStatus(403);
    await visit.open('/account');
    const text = await words(page);
    assert.ok(text.includes(person.email), 'still signed in');
    assert.ok(!text.includes('evil'));
  });
}
