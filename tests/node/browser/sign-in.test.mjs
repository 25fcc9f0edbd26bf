// The sign-in page.

import assert from 'node:assert/strict';
import { World } from './support/harness.mjs';
import { press, signIn, signInForm, words } from './support/pages.mjs';

const world = await World.forTests();
const path = (page) => page.url().slice(world.service.origin.length);

world.flow('a wrong password shows an error and keeps the email', async (visit) => {
  const { page, watch } = visit;
  const person = await world.newAccount();
  assert.equal((await visit.open('/account')).status(), 200);
  assert.match(path(page), /^\/sign-in\?return_to=/);
  const form = signInForm(page);
  assert.equal(await form.password.getAttribute('type'), 'password');

  const refused = await signIn(page, { ...person, password: 'wrong' });
  assert.equal(refused.status(), 401);
  await watch.takesStatus(401);
  assert.match(await page.getByRole('alert').innerText(), /email or password is incorrect/i);
  assert.equal(await form.email.inputValue(), person.email);
  assert.equal(await form.password.inputValue(), '');

  await form.password.fill(person.password);
  assert.equal((await press(page, form.button)).status(), 200);
  assert.equal(path(page), '/account');
  assert.ok((await words(page)).includes(person.email));
});

world.flow('an unknown email has the same error as a wrong password', async (visit) => {
  const { page, watch } = visit;
  const person = await world.newAccount();
  const shown = [];
  for (const email of [person.email, 'nobody@example.org']) {
    await visit.open('/sign-in');
    await signIn(page, { email, password: 'wrong' });
    await watch.takesStatus(401);
    shown.push(await words(page));
  }
  assert.equal(shown[0], shown[1]);
});

world.flow('signing in leads to the requested page, and never to another host', async (visit) => {
  const person = await world.newAccount();
  for (const [returnTo, expect] of [
    ['/account/sync', '/account/sync'],
    ['/account?from=here&now=1', '/account?from=here&now=1'],
    ['//evil.example/', '/'],
    ['https://evil.example/', '/'],
    ['/\\evil.example', '/'],
  ]) {
    await visit.signIn(person, returnTo);
    assert.equal(path(visit.page), expect, returnTo);
  }
});

world.flow('after ten failures the right password is refused too', async (visit) => {
  const { page, watch } = visit;
  const person = await world.newAccount();
  await visit.open('/sign-in');
  for (let failures = 0; failures < 10; failures += 1) {
    assert.equal((await signIn(page, { ...person, password: 'wrong' })).status(), 401);
    await watch.takesStatus(401);
  }
  const refused = await signIn(page, person);
  assert.equal(refused.status(), 429);
  await watch.takesStatus(429);
  assert.ok(Number(refused.headers()['retry-after']) > 0);
  assert.match(await page.getByRole('alert').innerText(), /wait/i);

  const other = await world.newAccount();
  assert.equal((await signIn(page, other)).status(), 200, 'other accounts are not locked out');
});

world.flow('a form without its cookie is refused', async (visit) => {
  const { page, watch, context } = visit;
  const person = await world.newAccount();
  await visit.open('/sign-in');
  await context.clearCookies();
  assert.equal((await signIn(page, person)).status(), 403);
  await watch.takesStatus(403);
  assert.match(await words(page), /did not send the cookie/);
  await press(page, page.getByRole('link', { name: 'Reload the page' }));
  assert.ok(await signInForm(page).button.isVisible());
  await visit.signIn(person);
  assert.equal(path(page), '/account');
});
