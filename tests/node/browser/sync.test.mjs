// Photo sync: devices and their passwords, and the page that connects a device.

import assert from 'node:assert/strict';
import { Device } from './support/device.mjs';
import { HOME_URL, World } from './support/harness.mjs';
import { Service } from './support/service.mjs';
import { answerDevice, press, signIn, syncPage, words } from './support/pages.mjs';

// Phones can reach this address, so the pages show QR codes.
const world = await World.forTests({ baseUrl: HOME_URL });
const path = (page) => new URL(page.url()).pathname;

async function signInNew(visit, to = '/account/sync') {
  const person = await world.newAccount();
  await visit.signIn(person, to);
  return { person, sync: syncPage(visit.page) };
}

world.flow('a sync password is shown once with a QR code, works, and is revoked', async (visit) => {
  const { page } = visit;
  const { person, sync } = await signInNew(visit);
  assert.match(await words(page), /No devices are connected/);
  await sync.createPassword('Anna’s Mac');
  const password = await sync.shownPassword();
  assert.match(password, /^[a-z2-7]{32}$/);
  await page.getByText('QR code with this password').click();
  assert.ok(await page.getByRole('img', { name: 'QR code with the new sync password' }).isVisible());
  const device = new Device(visit.service, { user: person.email, password });
  assert.equal(await device.status(), 200);

  await visit.open('/account/sync');
  assert.equal(await sync.shownPassword(), undefined, 'only once');
  assert.ok(!(await sync.disconnectButton('Anna’s Mac').isVisible()), 'a confirmation comes first');
  await sync.disconnect('Anna’s Mac');
  assert.equal(path(page), '/account/sync');
  assert.match(await words(page), /The device is disconnected/);
  assert.equal(await device.status(), 401);
});

world.flow('a QR code connects a device once', async (visit) => {
  const { page } = visit;
  const { sync } = await signInNew(visit);
  await sync.showCode('Anna’s phone');
  assert.ok(await page.getByRole('img', { name: 'QR code that connects the Nextcloud app' }).isVisible());
  assert.equal(await sync.shownPassword(), undefined);
});

world.flow('a device is connected after sign-in, and gets its password', async (visit) => {
  const { page } = visit;
  const person = await world.newAccount();
  const device = await Device.begin(visit.service, 'Anna’s iPhone (Nextcloud iOS)');
  assert.equal(await device.poll(), 404);
  await page.goto(device.login);
  assert.equal(path(page), '/sign-in');
  await signIn(page, person);
  const asked = await words(page);
  for (const expect of ['Anna’s iPhone (Nextcloud iOS)', person.email]) assert.ok(asked.includes(expect), expect);
  assert.equal(await device.poll(), 404, 'before the answer');
  assert.equal((await press(page, answerDevice(page).allow)).status(), 200);
  assert.match(await words(page), /The device is connected/);
  assert.equal(await device.poll(), 200);
  assert.equal(await device.status(), 200);
  assert.equal(await device.poll(), 404, 'only once');
  await visit.open('/account/sync');
  assert.ok((await words(page)).includes('Anna’s iPhone (Nextcloud iOS)'));
});

world.flow('a denied device gets nothing', async (visit) => {
  const { page, watch } = visit;
  await signInNew(visit);
  const device = await Device.begin(visit.service, 'laptop (Desktop Client - Linux)');
  await page.goto(device.login);
  await press(page, answerDevice(page).deny);
  assert.match(await words(page), /The device is not connected/);
  assert.equal(await device.poll(), 404);
  assert.equal((await page.goto(device.login)).status(), 404);
  await watch.takesStatus(404);
});

world.flow('a library that only its machine can open says so', async (_, another) => {
  const service = await Service.start();
  try {
    const visit = await another(service);
    await visit.signIn(await service.person('ann'), '/account/sync');
    const text = await words(visit.page);
    assert.match(text, /phones and other computers cannot connect/);
    const { port } = new URL(service.origin);
    assert.match(text, new RegExp(`server serve --listen 0\\.0\\.0\\.0:${port} --base-url http://(ADDRESS|[0-9.]+):${port}`));
    const sync = syncPage(visit.page);
    await sync.createPassword('Anna’s phone');
    assert.match(await sync.shownPassword(), /^[a-z2-7]{32}$/);
  } finally {
    await service.stop();
  }
});
