// Finds controls on the pages by role, label, field name and form action.

import { TIMEOUT_MS } from './watch.mjs';

/** Clicks a button that submits a form and returns the final response. */
export async function press(page, button) {
  const [answer] = await Promise.all([page.waitForNavigation(), button.click()]);
  return answer;
}

/** Reloads a page until it has as many of these elements. */
export async function reloadUntil(elements, count) {
  const end = Date.now() + TIMEOUT_MS;
  while ((await elements.count()) < count) {
    if (Date.now() > end) throw new Error(`fewer than ${count} elements after ${TIMEOUT_MS / 1000} s`);
    await elements.page().reload();
  }
}

/** Waits until a control has the focus: autofocus runs some time after the page has loaded. */
export const hasFocus = async (control) =>
  control.page().waitForFunction((element) => document.activeElement === element, await control.elementHandle());

/** The forms with this action. */
export const forms = (page, path) => page.locator(`form[method="post"][action="${path}"]`);

/** The sign-in form. */
export function signInForm(page) {
  const form = page.locator('form:has([name="email"]):has([name="password"])');
  return {
    form,
    email: form.locator('[name="email"]'),
    password: form.locator('[name="password"]'),
    button: form.getByRole('button'),
  };
}

/** Fills in the sign-in form and submits it. */
export async function signIn(page, { email, password }) {
  const form = signInForm(page);
  await form.email.fill(email);
  await form.password.fill(password);
  return press(page, form.button);
}

/** The form that creates the first account. */
export function setUpForm(page) {
  const form = page.locator('form[method="post"][action^="/setup"]');
  return {
    email: form.locator('[name="email"]'),
    password: form.locator('[name="password"]'),
    button: form.getByRole('button'),
  };
}

/** Fills in that form and submits it without the browser's own validation. */
export async function setUp(page, { email, password }) {
  const form = setUpForm(page);
  await form.email.fill(email);
  await form.password.fill(password);
  await form.button.evaluate((button) => (button.formNoValidate = true));
  return press(page, form.button);
}

/** The consent form's buttons. */
export const consentForm = (page) => ({
  allow: page.locator('button[name="decision"][value="allow"]'),
  deny: page.locator('button[name="decision"][value="deny"]'),
});

/** Opens the confirmation that contains a button. */
export async function openConfirmation(button) {
  if (await button.isVisible()) return;
  await button.page().locator('details', { has: button }).locator('summary').click();
}

/** The forms of the account page. */
export function accountPage(page) {
  const button = (action, name, includeHidden = false) =>
    forms(page, action).getByRole('button', { name, includeHidden });
  const field = (action, name) => forms(page, action).locator(`[name="${name}"]`);
  return {
    async createKey(name) {
      await field('/account/keys/create', 'name').fill(name);
      return press(page, button('/account/keys/create'));
    },
    /** The new key, if the page shows one. */
    async shownKey() {
      return /\bphotos_\w+/.exec(await page.locator('body').innerText())?.[0];
    },
    /** Buttons inside a confirmation, hidden until it is opened. */
    revokeButton: (name) => button('/account/keys/revoke', `Revoke ${name}`, true),
    disconnectButton: (name) => button('/account/apps/disconnect', `Disconnect ${name}`, true),
    async revoke(name) {
      await openConfirmation(this.revokeButton(name));
      return press(page, this.revokeButton(name));
    },
    async disconnect(name) {
      await openConfirmation(this.disconnectButton(name));
      return press(page, this.disconnectButton(name));
    },
    async changePassword(current, replacement) {
      await field('/account/password', 'current').fill(current);
      await field('/account/password', 'new').fill(replacement);
      return press(page, button('/account/password'));
    },
    /** The buttons that sign out other sessions, one each. */
    sessionButtons: forms(page, '/account/sessions/end').getByRole('button'),
    /** Opens the confirmation, fills it in and submits it. */
    async deleteAccount(password) {
      const form = forms(page, '/account/delete');
      await openConfirmation(form.getByRole('button', { includeHidden: true }));
      await form.locator('[name="password"]').fill(password);
      await form.getByRole('checkbox').check();
      return press(page, form.getByRole('button'));
    },
    async signOutEverywhere() {
      const everywhere = button('/account/sign-out-everywhere', undefined, true);
      await openConfirmation(everywhere);
      return press(page, everywhere);
    },
    async signOut() {
      const menu = page.locator('.menu');
      await menu.locator('summary').click();
      return press(page, menu.getByRole('button', { name: 'Sign out' }));
    },
  };
}

/** The buttons of the page that connects a device. */
export const answerDevice = consentForm;

/** The forms of the page about photo sync. */
export function syncPage(page) {
  const connect = forms(page, '/account/sync/connect');
  const add = async (name, button) => {
    await connect.locator('[name="name"]').fill(name);
    return press(page, connect.getByRole('button', { name: button }));
  };
  return {
    createPassword: (name) => add(name, 'Create password'),
    showCode: (name) => add(name, 'Show QR code'),
    /** The new password, if the page shows one. */
    async shownPassword() {
      const code = page.locator('[data-copy="the sync password"] code');
      return (await code.count()) ? code.innerText() : undefined;
    },
    /** Inside a confirmation, hidden until it is opened. */
    disconnectButton: (name) =>
      forms(page, '/account/sync/disconnect').getByRole('button', { name: `Disconnect ${name}`, includeHidden: true }),
    async disconnect(name) {
      await openConfirmation(this.disconnectButton(name));
      return press(page, this.disconnectButton(name));
    },
  };
}

/** The visible text of the page. */
export const words = (page) => page.locator('body').innerText();

/** Connects a web app to the signed-in account and returns its access token. */
export async function connect(visit, app) {
  await visit.watch.play(app.redirectUri);
  await visit.open(app.authorizePath());
  const answer = await press(visit.page, consentForm(visit.page).allow);
  return app.redeem(new URL(answer.url()).searchParams.get('code'));
}
