// The account page: connected apps, API keys, password, sessions and deletion.

import assert from 'node:assert/strict';
import { App } from './support/app.mjs';
import { World } from './support/harness.mjs';
import { accountPage, connect, forms, openConfirmation, press, signIn, words } from './support/pages.mjs';
import { importPlaces } from './support/places.mjs';

const world = await World.forTests();
const path = (page) => new URL(page.url()).pathname;
const CALLBACK = 'https://client.example/callback';

/** Signs in with a new account, and returns it with its page. */
async function signInNew(visit) {
  const person = await world.newAccount();
  await visit.signIn(person);
  assert.equal(path(visit.page), '/account');
  return { person, account: accountPage(visit.page) };
}

/** The HTTP status of an API request with this key. */
async function statusWithKey(key) {
  const answer = await world.service.fetch('/api/ext/v2/library', { headers: { authorization: `Bearer ${key}` } });
  await answer.text();
  return answer.status;
}

world.flow('a connected app is listed, and refused after it was disconnected', async (visit) => {
  const { page } = visit;
  const { account } = await signInNew(visit);
  const app = await App.register(world.service, CALLBACK, 'Photo <i>frame</i>');
  const other = await App.register(world.service, CALLBACK, 'Other app');
  const token = await connect(visit, app);
  const others = await connect(visit, other);
  assert.equal(await app.call(token), 200);

  await visit.open('/account');
  const shown = await words(page);
  for (const expect of [app.name, other.name, 'organise them into albums']) assert.ok(shown.includes(expect), expect);
  assert.ok(!(await account.disconnectButton(app.name).isVisible()), 'a confirmation comes first');
  await account.disconnect(app.name);
  assert.equal(path(page), '/account');
  assert.equal(await app.call(token), 401);
  assert.equal(await other.call(others), 200, 'only one app is disconnected');
  assert.equal(await account.disconnectButton(app.name).count(), 0);
  assert.equal(await account.disconnectButton(other.name).count(), 1);
});

world.flow('a key is shown once, works, and is revoked', async (visit) => {
  const { page, watch } = visit;
  const { account } = await signInNew(visit);
  await account.createKey('laptop <3');
  const key = await account.shownKey();
  assert.ok(key, 'the key is shown');
  assert.equal(await statusWithKey(key), 200);
  assert.ok((await words(page)).includes('laptop <3'));

  await visit.open('/account');
  assert.equal(await account.shownKey(), undefined, 'only once');
  assert.equal((await account.createKey('laptop <3')).status(), 400);
  await watch.takesStatus(400);
  assert.match(await words(page), /already a key with this name/);

  await account.revoke('laptop <3');
  assert.equal(await statusWithKey(key), 401);
  assert.equal(path(page), '/account');
  assert.equal(await account.revokeButton('laptop <3').count(), 0);
});

world.flow('a key without a name is not sent', async (visit) => {
  await signInNew(visit);
  const form = forms(visit.page, '/account/keys/create');
  await form.getByRole('button').click();
  const missing = await form.locator('[name="name"]').evaluate((field) => field.validity.valueMissing);
  assert.ok(missing);
  assert.equal(path(visit.page), '/account');
});

world.flow('a new password signs out other browsers', async (visit, another) => {
  const { page, watch } = visit;
  const { person, account } = await signInNew(visit);
  const elsewhere = await another();
  await elsewhere.signIn(person);
  const replacement = 'another password of the tests';

  assert.equal((await account.changePassword('wrong', replacement)).status(), 400);
  await watch.takesStatus(400);
  assert.match(await words(page), /password is incorrect/i);
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
  const { person } = await signInNew(visit);
  const form = forms(visit.page, '/account/password');
  await form.locator('[name="current"]').fill(person.password);
  // Browsers validate the length only of text that is typed.
  await form.locator('[name="new"]').pressSequentially('short');
  await form.getByRole('button').click();
  assert.ok(await form.locator('[name="new"]').evaluate((field) => field.validity.tooShort));
  assert.equal(path(visit.page), '/account');
});

world.flow('signing out everywhere keeps this browser signed in', async (visit, another) => {
  const { person, account } = await signInNew(visit);
  const elsewhere = await another();
  await elsewhere.signIn(person);
  await visit.open('/account');
  assert.equal((await account.signOutEverywhere()).status(), 200);
  await visit.open('/account');
  assert.equal(path(visit.page), '/account');
  await elsewhere.open('/account');
  assert.equal(path(elsewhere.page), '/sign-in');
});

world.flow('other browsers are listed and signed out one by one', async (visit, another) => {
  const { page } = visit;
  const { person, account } = await signInNew(visit);
  assert.equal(await account.sessionButtons.count(), 0, 'this browser is not listed');
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

world.flow('activity of the account is listed', async (visit) => {
  const { page, watch } = visit;
  const person = await world.newAccount();
  await visit.open('/sign-in');
  await signIn(page, { ...person, password: 'wrong' });
  await watch.takesStatus(401);
  await visit.signIn(person);
  const account = accountPage(page);
  await account.createKey('laptop');
  await account.revoke('laptop');
  const app = await App.register(world.service, CALLBACK, 'Photo <i>frame</i>');
  await connect(visit, app);
  await visit.open('/account/activity');
  const activity = page.getByRole('region', { name: 'Recent activity' });
  const shown = await activity.innerText();
  for (const expect of [
    'Sign-in failed: incorrect password',
    'Signed in',
    'API key laptop created',
    'API key laptop revoked',
    `${app.name} connected`,
    '127.0.0.1',
  ]) {
    assert.ok(shown.includes(expect), `${expect}: ${shown}`);
  }
});

world.flow('an account is deleted with its password, sessions, keys and apps', async (visit, another) => {
  const { page, watch } = visit;
  const { person, account } = await signInNew(visit);
  await account.createKey('laptop');
  const key = await account.shownKey();
  const app = await App.register(world.service, CALLBACK);
  const token = await connect(visit, app);
  const elsewhere = await another();
  await elsewhere.signIn(person);

  await visit.open('/account');
  assert.equal((await account.deleteAccount('wrong')).status(), 400);
  await watch.takesStatus(400);
  assert.match(await words(page), /password is incorrect/i);
  assert.equal(await statusWithKey(key), 200, 'nothing is gone yet');

  assert.equal((await account.deleteAccount(person.password)).status(), 200);
  assert.match(await words(page), /account is deleted/i);
  assert.equal(await statusWithKey(key), 401);
  assert.equal(await app.call(token), 401);
  for (const browser of [visit, elsewhere]) {
    await browser.open('/account');
    assert.equal(path(browser.page), '/sign-in');
  }
  assert.equal((await signIn(page, person)).status(), 401);
  await watch.takesStatus(401);
});

world.flow('an account is not deleted without the checkbox', async (visit) => {
  const { page } = visit;
  const { person } = await signInNew(visit);
  const form = forms(page, '/account/delete');
  await openConfirmation(form.getByRole('button', { includeHidden: true }));
  await form.locator('[name="password"]').fill(person.password);
  await form.getByRole('button').click();
  assert.ok(await form.getByRole('checkbox').evaluate((box) => box.validity.valueMissing));
  assert.equal(path(page), '/account');
});

world.flow('signing out ends only the session of this browser', async (visit, another) => {
  const { person, account } = await signInNew(visit);
  const elsewhere = await another();
  await elsewhere.signIn(person);
  const kept = await visit.context.cookies();
  await account.signOut();
  assert.equal(path(visit.page), '/sign-in');
  await elsewhere.open('/account');
  assert.equal(path(elsewhere.page), '/account');
  // The old cookie no longer signs in.
  await visit.context.addCookies(kept);
  await visit.open('/account');
  assert.equal(path(visit.page), '/sign-in');
});

world.flow('the back button shows no page after signing out', async (visit) => {
  const { person, account } = await signInNew(visit);
  await account.signOut();
  await visit.page.goBack();
  assert.ok(!(await words(visit.page)).includes(person.email));
});

world.flow('a confirmation can be cancelled', async (visit) => {
  const { page } = visit;
  const { account } = await signInNew(visit);
  await account.createKey('laptop');
  const key = await account.shownKey();
  const step = page.locator('details', { has: account.revokeButton('laptop') });
  await step.getByText('Revoke', { exact: true }).first().click();
  assert.match(await step.innerText(), /stop working/);
  await step.getByText('Cancel').click();
  assert.ok(!(await account.revokeButton('laptop').isVisible()));
  assert.equal(await statusWithKey(key), 200);
});

world.flow('forms lead back to the page of their section', async (visit) => {
  const { page } = visit;
  const { account } = await signInNew(visit);
  const navigation = page.getByRole('navigation', { name: 'Account' });
  const names = await navigation.getByRole('link').allInnerTexts();
  for (const name of names) {
    await press(page, navigation.getByRole('link', { name, exact: true }));
    assert.equal(await navigation.locator('[aria-current="page"]').innerText(), name);
    const heading = await page.getByRole('heading', { level: 1 }).innerText();
    assert.equal(heading, name === 'Overview' ? 'Your account' : name);
  }
  await visit.open('/account/keys');
  await account.createKey('laptop');
  await visit.open('/account/keys');
  await account.revoke('laptop');
  assert.equal(path(page), '/account/keys');
  assert.match(await page.getByRole('status').first().innerText(), /revoked/);
  await account.signOut();
  assert.match(page.url(), /\/sign-in\?return_to=\/account\/keys$/);
});

const scripted = { javaScriptEnabled: true };
const PERMISSIONS = ['clipboard-read', 'clipboard-write'];

/** Records every text that a copy button and its status show, because they show it only for a few seconds. */
async function recordTexts(button) {
  const element = await button.elementHandle();
  await element.evaluate((shown) => {
    shown.texts = [];
    const record = () => shown.texts.push(shown.textContent, shown.nextElementSibling.textContent);
    new MutationObserver(record).observe(shown.parentElement, { childList: true, subtree: true });
  });
  return element;
}

/** Waits until a recorded button or its status has shown a text. */
const hasShown = (page, element, text) =>
  page.waitForFunction(([shown, expected]) => shown.texts.includes(expected), [element, text]);

world.test('a copy button copies and confirms it', { ...scripted, permissions: PERMISSIONS }, async (visit) => {
  const { page } = visit;
  const { account } = await signInNew(visit);
  await account.createKey('laptop');
  const key = await account.shownKey();
  for (const [name, text] of [
    ['Copy the API key', key],
    ['Copy the address', `${world.service.origin}/api/mcp/v1`],
  ]) {
    const button = await recordTexts(page.getByRole('button', { name }));
    await button.focus();
    await page.keyboard.press('Enter');
    for (const shown of ['Copied', 'Copied to the clipboard']) await hasShown(page, button, shown);
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), text);
  }
});

world.test('without the clipboard API a copy button copies the selection', scripted, async (visit) => {
  const { page, context } = visit;
  await context.addInitScript(() => Object.defineProperty(navigator, 'clipboard', { value: undefined }));
  await signInNew(visit);
  const copied = page.evaluate(
    () => new Promise((resolve) => document.addEventListener('copy', () => resolve(`${getSelection()}`))),
  );
  const button = await recordTexts(page.getByRole('button', { name: 'Copy the address' }));
  await button.click();
  assert.equal(await copied, `${world.service.origin}/api/mcp/v1`);
  await hasShown(page, button, 'Copied');
});

world.test('without JavaScript there are no copy buttons', { javaScriptEnabled: false }, async (visit) => {
  await signInNew(visit);
  assert.equal(await visit.page.getByRole('button', { name: 'Copy' }).count(), 0);
  const time = await visit.page.locator('time[data-precision="minute"]').first().innerText();
  assert.match(time, /^\d+ \w+ \d{4}, \d\d:\d\d UTC$/);
});

world.test('times are shown in the time zone of the browser', { ...scripted, timezoneId: 'Asia/Tokyo' }, async (visit) => {
  await signInNew(visit);
  const time = visit.page.locator('time[data-precision="minute"]').first();
  const at = new Date(await time.getAttribute('datetime'));
  const clock = at.toLocaleTimeString('en-GB', { timeZone: 'Asia/Tokyo', hour: '2-digit', minute: '2-digit' });
  assert.match(await time.innerText(), new RegExp(`^\\d+ \\w+ \\d{4}, ${clock} GMT\\+9$`));
});

world.test('the search field of the account pages suggests names of the library with pictures', scripted, async (visit) => {
  const { page } = visit;
  const { person } = await signInNew(visit);
  await importPlaces(world.service, person, [[38.7223, -9.1393]]);
  for (const path of ['/account', '/account/sync']) {
    await visit.open(path);
    await page.locator('#q').focus();
    await page.locator('#q[role="combobox"]').pressSequentially('lisb');
    await page.waitForFunction(() => document.querySelector('[role="option"] img')?.naturalWidth > 0);
  }
  await page.getByRole('option', { name: 'Lisbon, Portugal' }).click();
  await page.waitForURL(/\/search\?/);
  await page.locator('ul.rows li').first().waitFor();
});
