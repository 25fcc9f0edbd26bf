// The set-up link, which creates the first account. Each test has its own service.

import assert from 'node:assert/strict';
import { World } from './support/harness.mjs';
import { hasFocus, setUp, setUpForm, signIn, words } from './support/pages.mjs';
import { PASSWORD, Service } from './support/service.mjs';

const world = await World.forTests();
const ANN = { email: 'ann@example.org', password: PASSWORD };

/** Adds a test on a service without an account. */
function firstFlow(name, body) {
  world.flow(name, async (_, another) => {
    const service = await Service.start();
    const visits = [];
    const visit = async () => {
      visits.push(await another(service));
      return visits.at(-1);
    };
    try {
      await body(await visit(), service, visit);
      // A page that still loads something would complain about the service when it has stopped.
      for (const { page } of visits) await page.goto('about:blank');
    } finally {
      await service.stop();
    }
  });
}

firstFlow('the link creates the first account and signs in, once', async (visit, service, another) => {
  const { page } = visit;
  assert.equal((await visit.open(service.setUpPath)).status(), 200);
  assert.equal((await setUp(page, ANN)).status(), 200);
  assert.equal(new URL(page.url()).pathname, '/');
  assert.ok((await words(page)).includes(ANN.email));

  const later = await another();
  const status = (await later.open(service.setUpPath)).status();
  assert.ok(status >= 400, `${status}`);
  await later.watch.takesStatus(status);
  assert.equal(await setUpForm(later.page).button.count(), 0);
  await later.open('/sign-in?return_to=/account');
  assert.equal((await signIn(later.page, ANN)).status(), 200);
});

firstFlow('when two people use the link, the first gets the account', async (visit, service, another) => {
  const other = await another();
  await visit.open(service.setUpPath);
  await other.open(service.setUpPath);
  assert.equal((await setUp(visit.page, ANN)).status(), 200);
  const status = (await setUp(other.page, { ...ANN, email: 'eve@example.org' })).status();
  assert.ok(status >= 400, `${status}`);
  await other.watch.takesStatus(status);
  assert.ok(!(await words(other.page)).includes('Signed in'));
});

firstFlow('a link with another token shows no form', async (visit, service) => {
  for (const path of ['/setup', '/setup?token=', `${service.setUpPath}x`]) {
    const status = (await visit.open(path)).status();
    assert.ok(status >= 400, `${path}: ${status}`);
    await visit.watch.takesStatus(status);
    assert.equal(await setUpForm(visit.page).button.count(), 0);
  }
});

firstFlow('a short password is not sent', async (visit, service) => {
  const { page } = visit;
  await visit.open(service.setUpPath);
  const form = setUpForm(page);
  await form.email.fill(ANN.email);
  await form.password.pressSequentially('short');
  await form.button.click();
  assert.ok(await form.password.evaluate((field) => field.validity.tooShort));
  assert.ok(await form.button.isVisible());
});

firstFlow('an error is shown, and its field has the focus', async (visit, service) => {
  const { page, watch } = visit;
  const form = setUpForm(page);
  await visit.open(service.setUpPath);
  await hasFocus(form.email);
  for (const [wrong, words, field] of [
    [{ email: 'ann', password: PASSWORD }, /valid email address/, form.email],
    [{ email: ANN.email, password: 'short' }, /at least 10 characters/, form.password],
  ]) {
    assert.equal((await setUp(page, wrong)).status(), 400);
    await watch.takesStatus(400);
    assert.match(await page.getByRole('alert').innerText(), words);
    assert.equal(await form.email.inputValue(), wrong.email);
    assert.equal(await form.password.inputValue(), '');
    await hasFocus(field);
  }
  assert.equal((await setUp(page, ANN)).status(), 200);
});
