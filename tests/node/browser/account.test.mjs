// The account page: what is connected, and how to end it.

import assert from 'node:assert/strict';
import { App } from './support/app.mjs';
import { World } from './support/harness.mjs';
import { accountPage, connect, forms, press, signIn, words } from './support/pages.mjs';

const world = await World.forTests();
const path = (page) => new URL(page.url()).pathname;
const CALLBACK = 'https://client.example/callback';

/** The account page of somebody who has just signed in. */
async function ofSomebody(visit) {
  const person = await world.somebody();
  await visit.signIn(person);
  assert.equal(path(visit.page), '/account');
  return { person, account: accountPage(visit.page) };
}

/** The status of the library's description with this key. */
async function withKey(key) {
  const answer = await world.service.fetch('/api/ext/v2/library', { headers: { authorization: `Bearer ${key}` } });
  await answer.text();
  return answer.status;
}

world.flow('a connected app is listed, and cut off from its next request on', async (visit) => {
  const { page } = visit;
  const { account } = await ofSomebody(visit);
  const app = await App.register(world.service, CALLBACK, 'Photo <i>frame</i>');
  const other = await App.register(world.service, CALLBACK, 'Other app');
  const token = await connect(visit, app);
  const others = await connect(visit, other);
  assert.equal(await app.call(token), 200);

  await visit.open('/account');
  const shown = await words(page);
  for (const expect of [app.name, other.name, 'organise them into albums']) assert.ok(shown.includes(expect), expect);
  await press(page, account.disconnectButton(app.name));
  assert.equal(path(page), '/account');
  assert.equal(await app.call(token), 401);
  assert.equal(await other.call(others), 200, 'only that one');
  assert.ok(!(await account.disconnectButton(app.name).isVisible()));
  assert.ok(await account.disconnectButton(other.name).isVisible());
});

world.flow('a key is shown once, works, and is revoked', async (visit) => {
  const { page, watch } = visit;
  const { account } = await ofSomebody(visit);
  await account.createKey('laptop <3');
  const key = await account.shownKey();
  assert.ok(key, 'the key is shown');
  assert.equal(await withKey(key), 200);
  assert.ok((await words(page)).includes('laptop <3'));

  await visit.open('/account');
  assert.equal(await account.shownKey(), undefined, 'only once');
  assert.equal((await account.createKey('laptop <3')).status(), 400);
  await watch.takesStatus(400);
  assert.match(await words(page), /already a key of this name/);

  await press(page, account.revokeButton('laptop <3'));
  assert.equal(await withKey(key), 401);
  assert.equal(path(page), '/account');
  assert.ok(!(await account.revokeButton('laptop <3').isVisible()));
});

world.flow('a key without a name is not sent', async (visit) => {
  await ofSomebody(visit);
  const form = forms(visit.page, '/account/keys/create');
  await form.getByRole('button').click();
  const missing = await form.locator('[name="name"]').evaluate((field) => field.validity.valueMissing);
  assert.ok(missing);
  assert.equal(path(visit.page), '/account');
});

world.flow('a new password ends the sessions of other browsers, and keeps this one', async (visit, another) => {
  const { page, watch } = visit;
  const { person, account } = await ofSomebody(visit);
  const elsewhere = await another();
  await elsewhere.signIn(person);
  const replacement = 'another password of the tests';

  assert.equal((await account.changePassword('wrong', replacement)).status(), 400);
  await watch.takesStatus(400);
  assert.match(await words(page), /password is wrong/i);
  await elsewhere.open('/account');
  assert.equal(path(elsewhere.page), '/account', 'nothing has changed yet');

  assert.equal((await account.changePassword(person.password, replacement)).status(), 200);
  await visit.open('/account');
  assert.equal(path(page), '/account', 'still signed in');
  await elsewhere.open('/account');
  assert.equal(path(elsewhere.page), '/sign-in');
  assert.equal((await signIn(elsewhere.page, person)).status(), 401);
  await elsewhere.watch.takesStatus(401);
  assert.equal((await signIn(elsewhere.page, { ...person, password: replacement })).status(), 200);
});

world.flow('a new password that is too short is not sent', async (visit) => {
  const { person } = await ofSomebody(visit);
  const form = forms(visit.page, '/account/password');
  await form.locator('[name="current"]').fill(person.password);
  // Typed as people do: a browser judges the length only of what was typed.
  await form.locator('[name="new"]').pressSequentially('short');
  await form.getByRole('button').click();
  assert.ok(await form.locator('[name="new"]').evaluate((field) => field.validity.tooShort));
  assert.equal(path(visit.page), '/account');
});

world.flow('signing out everywhere leaves this browser', async (visit, another) => {
  const { person, account } = await ofSomebody(visit);
  const elsewhere = await another();
  await elsewhere.signIn(person);
  await visit.open('/account');
  assert.equal((await account.signOutEverywhere()).status(), 200);
  await visit.open('/account');
  assert.equal(path(visit.page), '/account');
  await elsewhere.open('/account');
  assert.equal(path(elsewhere.page), '/sign-in');
});

world.flow('another browser is listed and signed out by itself', async (visit, another) => {
  const { page } = visit;
  const { person, account } = await ofSomebody(visit);
  assert.equal(await account.sessionButtons.count(), 0, 'this browser is not among them');
  const [second, third] = [await another(), await another()];
  await second.signIn(person);
  await third.signIn(person);
  await visit.open('/account');
  assert.equal(await account.sessionButtons.count(), 2);
  assert.match(await words(page), /127\.0\.0\.1/);
  await press(page, account.sessionButtons.first());
  assert.equal(path(page), '/account');
  assert.equal(await account.sessionButtons.count(), 1);
  const left = [];
  for (const { page: theirs } of [second, third]) {
    await theirs.goto('/account');
    left.push(path(theirs));
  }
  assert.deepEqual(left.sort(), ['/account', '/sign-in']);
});

world.flow('what happened to the account is told', async (visit) => {
  const { page, watch } = visit;
  const person = await world.somebody();
  await visit.open('/sign-in');
  await signIn(page, { ...person, password: 'wrong' });
  await watch.takesStatus(401);
  await visit.signIn(person);
  const account = accountPage(page);
  await account.createKey('laptop');
  await press(page, account.revokeButton('laptop'));
  const app = await App.register(world.service, CALLBACK, 'Photo <i>frame</i>');
  await connect(visit, app);
  await visit.open('/account');
  const activity = page.getByRole('region', { name: 'Recent activity' });
  const shown = await activity.innerText();
  for (const expect of [
    'A wrong password was tried',
    'Signed in',
    'The API key laptop was made',
    'The API key laptop was revoked',
    `${app.name} was connected`,
    '127.0.0.1',
  ]) {
    assert.ok(shown.includes(expect), `${expect}: ${shown}`);
  }
});

world.flow('an account is deleted by who knows its password, and everything ends', async (visit, another) => {
  const { page, watch } = visit;
  const { person, account } = await ofSomebody(visit);
  await account.createKey('laptop');
  const key = await account.shownKey();
  const app = await App.register(world.service, CALLBACK);
  const token = await connect(visit, app);
  const elsewhere = await another();
  await elsewhere.signIn(person);

  await visit.open('/account');
  assert.equal((await account.deleteAccount('wrong')).status(), 400);
  await watch.takesStatus(400);
  assert.match(await words(page), /password is wrong/i);
  assert.equal(await withKey(key), 200, 'nothing is gone yet');

  assert.equal((await account.deleteAccount(person.password)).status(), 200);
  assert.match(await words(page), /account is deleted/i);
  assert.equal(await withKey(key), 401);
  assert.equal(await app.call(token), 401);
  for (const browser of [visit, elsewhere]) {
    await browser.open('/account');
    assert.equal(path(browser.page), '/sign-in');
  }
  assert.equal((await signIn(page, person)).status(), 401);
  await watch.takesStatus(401);
});

world.flow('an account is not deleted without the tick', async (visit) => {
  const { page } = visit;
  const { person } = await ofSomebody(visit);
  const form = forms(page, '/account/delete');
  await page.locator('summary', { hasText: 'Delete my account' }).click();
  await form.locator('[name="password"]').fill(person.password);
  await form.getByRole('button').click();
  assert.ok(await form.getByRole('checkbox').evaluate((box) => box.validity.valueMissing));
  assert.equal(path(page), '/account');
});

world.flow('signing out ends the session of this browser only', async (visit, another) => {
  const { person, account } = await ofSomebody(visit);
  const elsewhere = await another();
  await elsewhere.signIn(person);
  const kept = await visit.context.cookies();
  await account.signOut();
  assert.equal(path(visit.page), '/sign-in');
  await elsewhere.open('/account');
  assert.equal(path(elsewhere.page), '/account');
  // Whoever has kept the cookie has nothing.
  await visit.context.addCookies(kept);
  await visit.open('/account');
  assert.equal(path(visit.page), '/sign-in');
});

world.flow('pages are not shown again by the back button after signing out', async (visit) => {
  const { person, account } = await ofSomebody(visit);
  await account.signOut();
  await visit.page.goBack();
  assert.ok(!(await words(visit.page)).includes(person.email));
});
