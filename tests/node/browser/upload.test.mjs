// The upload on the page of photo sync.

import assert from 'node:assert/strict';
import { createServer, connect } from 'node:net';
import { once } from 'node:events';
import { World } from './support/harness.mjs';
import { forms, press, signIn, words } from './support/pages.mjs';
import { movie, photos } from './support/photos.mjs';
import { choose, hasFinished, isFinished, summary, written } from './support/upload.mjs';
import { Watch } from './support/watch.mjs';

const world = await World.forTests();
const SYNC = '/account/sync';
const LOST = /^console: Failed to load resource: net::ERR_/;

/** A proxy in front of the service whose connections a test can cut. */
class Cable {
  #sockets = new Set();
  #isCut = false;

  static async lay(origin) {
    const cable = new Cable();
    const { hostname, port } = new URL(origin);
    cable.server = createServer((near) => {
      if (cable.#isCut) return near.destroy();
      const far = connect(port, hostname);
      for (const socket of [near, far]) {
        cable.#sockets.add(socket);
        socket.on('error', () => socket.destroy());
        socket.on('close', () => {
          cable.#sockets.delete(socket);
          near.destroy();
          far.destroy();
        });
      }
      near.pipe(far).pipe(near);
    }).listen(0, '127.0.0.1');
    await once(cable.server, 'listening');
    cable.origin = `http://127.0.0.1:${cable.server.address().port}`;
    return cable;
  }

  cut() {
    this.#isCut = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  mend() {
    this.#isCut = false;
  }

  close() {
    this.cut();
    this.server.close();
  }
}

/** The number of photos in the library of a person. */
async function total(person) {
  const printed = await world.service.run(['key', 'create', person.email, '--name', 'count']);
  const headers = { authorization: `Bearer ${printed.trim().split('\n').at(-1)}` };
  const info = async () => (await (await world.service.fetch('/api/ext/v2/library', { headers })).json()).result;
  return { count: async () => (await info()).totalImages };
}

world.test('300 photos arrive although the connection is cut twice and the tab is closed once', {}, async (visit) => {
  const person = await world.newAccount();
  const { count } = await total(person);
  const cable = await Cable.lay(world.service.origin);
  const { paths, remove } = await written(photos(300));
  const { watch, context } = visit;
  try {
    watch.allowOrigin(cable.origin);
    await visit.page.goto(`${cable.origin}/sign-in?return_to=${SYNC}`);
    await signIn(visit.page, person);
    await choose(visit.page, paths);
    await hasFinished(visit.page, 40);
    cable.cut();
    // The page notices the cut and tries again.
    await visit.page.waitForEvent('requestfailed');
    cable.mend();
    await hasFinished(visit.page, 100);

    await visit.page.close();
    visit.page = await context.newPage();
    visit.watch = await Watch.of(visit.page, [cable.origin]);
    await visit.page.goto(`${cable.origin}${SYNC}`);
    await choose(visit.page, paths);
    await hasFinished(visit.page, 200);
    await context.setOffline(true);
    await visit.page.getByText('Waiting for the connection.').first().waitFor();
    await context.setOffline(false);

    const text = await isFinished(visit.page);
    assert.match(text, /^Finished\. 300 of 300 photos/);
    assert.doesNotMatch(text, /failed|refused|cancelled/);
    visit.watch.forgets(LOST);
    while ((await count()) < 300) await visit.page.waitForTimeout(100);
    assert.equal(await count(), 300);
    const left = await visit.page.evaluate(() => Object.keys(localStorage));
    assert.deepEqual(left, [], 'no address of an upload is left');

    // Nothing is sent again.
    const sent = [];
    visit.page.on('request', (request) => request.url().endsWith('/upload/') && sent.push(request.url()));
    await visit.page.reload();
    await choose(visit.page, paths);
    assert.match(await isFinished(visit.page), /300 already there/);
    assert.deepEqual(sent, []);
  } finally {
    cable.close();
    await remove();
  }
});

world.test('an interrupted photo continues after the tab was closed', {}, async (visit) => {
  const person = await world.newAccount();
  await visit.signIn(person, SYNC);
  const { paths, remove } = await written(photos(10).slice(-1));
  // The first request goes through, the rest of the photo does not.
  await visit.page.route('**/upload/*', (route) => (route.request().method() === 'PATCH' ? undefined : route.continue()));
  const [stuck] = await Promise.all([
    visit.page.waitForRequest((request) => request.method() === 'PATCH'),
    choose(visit.page, paths),
  ]);
  await visit.page.close();
  visit.page = await visit.context.newPage();
  visit.watch = await Watch.of(visit.page, [world.service.origin]);
  await visit.open(SYNC);
  const [continued] = await Promise.all([
    visit.page.waitForRequest((request) => request.method() === 'PATCH'),
    choose(visit.page, paths),
  ]);
  assert.equal(continued.url(), stuck.url());
  assert.equal(continued.headers()['upload-offset'], String(64 * 1024));
  assert.match(await isFinished(visit.page), /1 of 1 photo: 1 added/);
  await remove();
});

world.test('refused files are named with their reasons', {}, async (visit) => {
  await visit.signIn(await world.newAccount(), SYNC);
  const text = { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('no photo') };
  const junk = { name: '.DS_Store', mimeType: '', buffer: Buffer.from('junk') };
  await choose(visit.page, [...photos(2), movie('IMG_1.mov'), text, junk]);
  assert.match(await isFinished(visit.page), /4 of 4 photos: 2 added, 2 refused/);
  const reasons = await visit.page.locator('#upload li').allTextContents();
  for (const name of ['IMG_1.mov: ', 'notes.txt: ']) {
    assert.ok(reasons.some((reason) => reason.startsWith(name) && reason.length > name.length + 10), reasons.join('\n'));
  }
  assert.equal(await visit.page.locator('#upload [role="status"]').textContent(), 'Finished: 2 added, 2 refused.');
  for (let refused = 0; refused < 2; refused += 1) await visit.watch.takesStatus(415);
});

world.test('an upload can be paused, continued and cancelled by keyboard', {}, async (visit) => {
  await visit.signIn(await world.newAccount(), SYNC);
  const { page } = visit;
  await page.route('**/upload/', () => {});
  await choose(page, photos(5));
  const button = (name) => page.locator('#upload').getByRole('button', { name });
  await button('Pause').press('Enter');
  await page.getByText('Paused. 0 of 5 photos.').waitFor();
  await button('Continue').press('Enter');
  await page.getByText(/^0 of 5 photos\.$/).waitFor();
  await button('Cancel').press('Enter');
  assert.match(await isFinished(page), /5 cancelled/);
  assert.ok(await button('Choose photos').evaluate((element) => element === document.activeElement));
});

world.test('photos can be dropped on the page', {}, async (visit) => {
  await visit.signIn(await world.newAccount(), SYNC);
  const [{ name, buffer }] = photos(1);
  await visit.page.evaluate(([fileName, bytes]) => {
    const data = new DataTransfer();
    data.items.add(new File([new Uint8Array(bytes)], fileName));
    document.body.dispatchEvent(new DragEvent('drop', { bubbles: true, cancelable: true, dataTransfer: data }));
  }, [name, [...buffer]]);
  assert.match(await isFinished(visit.page), /1 of 1 photo: 1 added/);
});

world.test('the plain form works without JavaScript', { javaScriptEnabled: false }, async (visit) => {
  await visit.signIn(await world.newAccount(), SYNC);
  const form = forms(visit.page, '/account/sync/photos');
  await form.locator('input[type="file"]').setInputFiles([...photos(2), movie('IMG_1.mov')]);
  const answer = await press(visit.page, form.getByRole('button'));
  assert.equal(answer.status(), 200);
  const text = await words(visit.page);
  for (const expect of ['2 photos added', '1 not uploaded', 'IMG_1.mov: ']) assert.ok(text.includes(expect), text);
});

world.test('a session that ended stops the upload until the person signs in again', {}, async (visit) => {
  const person = await world.newAccount();
  await visit.signIn(person, SYNC);
  await visit.context.clearCookies();
  await choose(visit.page, photos(2));
  await visit.page.getByText('You are signed out.').waitFor();
  const tab = await visit.context.newPage();
  await tab.goto(`${world.service.origin}/sign-in`);
  await signIn(tab, person);
  await visit.page.locator('#upload').getByRole('button', { name: 'Continue' }).click();
  assert.match(await isFinished(visit.page), /2 added/);
  visit.watch.forgets(/status of 401/);
  assert.ok(await summary(visit.page));
});
