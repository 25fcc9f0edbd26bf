// Signing in, connecting an app and managing API keys by keyboard alone.

import assert from 'node:assert/strict';
import { App } from './support/app.mjs';
import { World } from './support/harness.mjs';
import { accountPage, consentForm, hasFocus, signInForm, words } from './support/pages.mjs';

const world = await World.forTests();
const CALLBACK = 'https://client.example/callback';
/** More than the number of controls on any page. */
const MOST_PRESSES = 60;

const isFocused = (control) => control.evaluate((element) => element === document.activeElement);

/** Presses Tab until a control has the focus. */
async function tabTo(page, control) {
  for (let presses = 0; presses < MOST_PRESSES; presses += 1) {
    if (await isFocused(control)) return;
    await page.keyboard.press('Tab');
  }
  assert.fail(`Tab does not reach ${control}`);
}

/** Presses a key that submits a form. */
async function submit(page, key) {
  const [answer] = await Promise.all([page.waitForNavigation(), page.keyboard.press(key)]);
  return answer;
}

async function signInByKeyboard(page, person) {
  await hasFocus(signInForm(page).email);
  await page.keyboard.type(person.email);
  await page.keyboard.press('Tab');
  await page.keyboard.type(person.password);
  return submit(page, 'Enter');
}

for (const [decision, key] of [
  ['allow', 'Enter'],
  ['deny', 'Space'],
]) {
  world.flow(`the consent form works by keyboard: ${decision}`, async (visit) => {
    const { page, watch } = visit;
    const app = await App.register(world.service, CALLBACK);
    await watch.play(CALLBACK);
    await visit.open(app.authorizePath());
    await signInByKeyboard(page, await world.newAccount());
    await tabTo(page, consentForm(page)[decision]);
    await submit(page, key);
    const answer = new URL(page.url());
    assert.equal(answer.origin + answer.pathname, CALLBACK);
    assert.equal(answer.searchParams.has('code'), decision === 'allow');
  });
}

world.flow('Enter without a focused button allows nothing', async (visit) => {
  const { page } = visit;
  const app = await App.register(world.service, CALLBACK);
  await visit.open(app.authorizePath());
  await signInByKeyboard(page, await world.newAccount());
  const before = page.url();
  await page.keyboard.press('Enter');
  await page.keyboard.press('Space');
  assert.equal(page.url(), before);
  assert.ok(await consentForm(page).allow.isVisible());
});

world.flow('after a wrong password, the password field has the focus', async (visit) => {
  const { page, watch } = visit;
  const person = await world.newAccount();
  await visit.open('/sign-in?return_to=/account');
  assert.equal((await signInByKeyboard(page, { ...person, password: 'wrong' })).status(), 401);
  await watch.takesStatus(401);
  await hasFocus(signInForm(page).password);
  await page.keyboard.type(person.password);
  await submit(page, 'Enter');
  assert.ok((await words(page)).includes(person.email));
});

world.flow('an API key is created and revoked by keyboard', async (visit) => {
  const { page } = visit;
  await visit.open('/sign-in?return_to=/account');
  await signInByKeyboard(page, await world.newAccount());
  const account = accountPage(page);
  await tabTo(page, page.locator('form[action="/account/keys/create"] [name="name"]'));
  await page.keyboard.type('laptop');
  await submit(page, 'Enter');
  assert.ok(await account.shownKey());
  const step = page.locator('details', { has: account.revokeButton('laptop') });
  await tabTo(page, step.locator('summary'));
  await page.keyboard.press('Enter');
  await tabTo(page, account.revokeButton('laptop'));
  await submit(page, 'Space');
  assert.equal(await account.revokeButton('laptop').count(), 0);
});
