// The upload: on the page of photo sync, and on every other page.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { createServer, connect } from 'node:net';
import { once } from 'node:events';
import { World } from './support/harness.mjs';
import { forms, press, signIn, words } from './support/pages.mjs';
import { movie, photos } from './support/photos.mjs';
import { JUDGES_TIMES, within } from './support/library.mjs';
import { button, choose, hasFinished, isFinished, reasons, remark, written } from './support/upload.mjs';
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

/** What a screen reader announces. */
const status = (page) => page.locator('#upload-status').textContent();

/** Stops the clock of a page, so that its timers never fire. */
async function isStopped(page) {
  await page.clock.install();
  await page.clock.pauseAt(Date.now() + 60_000);
}

/** Answers every further part of an upload with 423, as if another request were writing. */
const refusesParts = (page) =>
  page.route('**/upload/*', (route) => {
    if (route.request().method() !== 'PATCH') return route.continue();
    return route.fulfill({ status: 423, contentType: 'application/json', body: '{"error": "another request is writing"}' });
  });

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
    // The page notices the lost connection and retries.
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
    const [, added, known] = /^(?:(\d+) added, )?(\d+) were there already\.$/.exec(text) ?? assert.fail(text);
    assert.equal(Number(added ?? 0) + Number(known), 300);
    visit.watch.forgets(LOST);
    while ((await count()) < 300) await visit.page.waitForTimeout(100);
    assert.equal(await count(), 300);
    const left = await visit.page.evaluate(() => Object.keys(localStorage));
    assert.deepEqual(left, [], 'no address of an upload is left');

    // Photos that the library has are not sent again.
    const sent = [];
    visit.page.on('request', (request) => request.url().endsWith('/upload/') && sent.push(request.url()));
    await visit.page.reload();
    await choose(visit.page, paths);
    assert.equal(await isFinished(visit.page), '300 were there already.');
    assert.deepEqual(sent, []);
  } finally {
    cable.close();
    await remove();
  }
});

world.test('an interrupted photo continues after the tab was closed', {}, async (visit) => {
  await visit.signIn(await world.newAccount(), SYNC);
  const { paths, remove } = await written(photos(10).slice(-1));
  const patch = (page) => page.waitForRequest((request) => request.method() === 'PATCH');
  await isStopped(visit.page);
  // The first request succeeds. The next one is refused, and the page waits before it retries.
  await refusesParts(visit.page);
  const [stuck] = await Promise.all([patch(visit.page), choose(visit.page, paths)]);
  await (await stuck.response()).finished();
  await visit.page.close();
  visit.page = await visit.context.newPage();
  await visit.page.clock.resume();
  visit.watch = await Watch.of(visit.page, [world.service.origin]);
  await visit.open(SYNC);
  const [continued] = await Promise.all([patch(visit.page), choose(visit.page, paths)]);
  assert.equal(continued.url(), stuck.url());
  assert.equal(continued.headers()['upload-offset'], String(64 * 1024));
  assert.equal(await isFinished(visit.page), '1 added.');
  await remove();
});

world.test('refused files are named with their reasons', {}, async (visit) => {
  await visit.signIn(await world.newAccount(), SYNC);
  const text = { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('no photo') };
  const junk = { name: '.DS_Store', mimeType: '', buffer: Buffer.from('junk') };
  await choose(visit.page, [...photos(2), movie('IMG_1.mov'), text, junk]);
  assert.equal(await isFinished(visit.page), '2 added, 2 refused.');
  const texts = await reasons(visit.page);
  for (const name of ['IMG_1.mov: ', 'notes.txt: ']) {
    assert.ok(texts.some((text) => text.startsWith(name) && text.length > name.length + 10), texts.join('\n'));
  }
  assert.equal(await status(visit.page), 'Finished: 2 added, 2 refused.');
  for (let refused = 0; refused < 2; refused += 1) await visit.watch.takesStatus(415);
});

world.test('an upload can be paused, continued and cancelled by keyboard', {}, async (visit) => {
  await visit.signIn(await world.newAccount(), SYNC);
  const { page } = visit;
  await page.route('**/upload/', () => {});
  await choose(page, photos(5));
  await button(page, 'Pause').press('Enter');
  await page.getByText('Paused. 0 of 5').waitFor();
  await button(page, 'Continue').press('Enter');
  await page.getByText(/^0 of 5$/).waitFor();
  await button(page, 'Cancel').press('Enter');
  assert.equal(await isFinished(page), '5 cancelled.');
  assert.equal(await status(page), 'Finished: 5 cancelled.');
  assert.ok(await button(page, 'Close').evaluate((element) => element === document.activeElement));
});

world.test('photos are uploaded that are chosen in the plain form while the script replaces it', {}, async (visit) => {
  const { page } = visit;
  let hold;
  const held = new Promise((resolve) => (hold = resolve));
  await page.route('**/upload.js', hold);
  await visit.signIn(await world.newAccount(), SYNC);
  const script = await held;
  await page.evaluate(() => (window.plain = document.querySelector('#upload input[type="file"]')));
  await script.continue();
  await button(page, 'Choose photos').waitFor();
  const [{ name, buffer }] = photos(1);
  await page.evaluate(([fileName, bytes]) => {
    const data = new DataTransfer();
    data.items.add(new File([new Uint8Array(bytes)], fileName));
    window.plain.files = data.files;
    window.plain.dispatchEvent(new Event('change'));
  }, [name, [...buffer]]);
  assert.equal(await isFinished(page), '1 added.');
});

world.test('photos can be dropped on the page', {}, async (visit) => {
  await visit.signIn(await world.newAccount(), SYNC);
  const [{ name, buffer }] = photos(1);
  await visit.page.evaluate(([fileName, bytes]) => {
    const data = new DataTransfer();
    data.items.add(new File([new Uint8Array(bytes)], fileName));
    document.body.dispatchEvent(new DragEvent('drop', { bubbles: true, cancelable: true, dataTransfer: data }));
  }, [name, [...buffer]]);
  assert.equal(await isFinished(visit.page), '1 added.');
});

world.test('the plain form works without JavaScript', { javaScriptEnabled: false }, async (visit) => {
  await visit.signIn(await world.newAccount(), SYNC);
  const form = forms(visit.page, '/account/sync/photos');
  await form.locator('input[type="file"]').setInputFiles([...photos(2), movie('IMG_1.mov')]);
  const answer = await press(visit.page, form.getByRole('button', { name: 'Upload', exact: true }));
  assert.equal(answer.status(), 200);
  const text = await words(visit.page);
  for (const expect of ['2 photos added', '1 not uploaded', 'IMG_1.mov: ']) assert.ok(text.includes(expect), text);
});

world.test('a session that ended stops the upload until the person signs in again', {}, async (visit) => {
  const person = await world.newAccount();
  await visit.signIn(person, SYNC);
  await visit.context.clearCookies();
  await choose(visit.page, photos(2));
  const link = visit.page.locator('#tray').getByRole('link', { name: 'Sign in' });
  await link.waitFor();
  assert.match(await status(visit.page), /^You are signed out\./);
  const [tab] = await Promise.all([visit.context.waitForEvent('page'), link.click()]);
  await signIn(tab, person);
  assert.equal(new URL(tab.url()).pathname, SYNC);
  await button(visit.page, 'Continue').click();
  assert.equal(await isFinished(visit.page), '2 added.');
  assert.ok(!(await link.isVisible()));
  visit.watch.forgets(/status of 401/);
});

world.test('files that were refused or cancelled can be chosen again, and others cannot', {}, async (visit) => {
  await visit.signIn(await world.newAccount(), SYNC);
  const { page } = visit;
  const { paths, remove } = await written([...photos(4), movie('IMG_1.mov')]);
  const [first, second, third, fourth, film] = paths;
  await choose(page, [first, second, film]);
  assert.equal(await isFinished(page), '2 added, 1 refused.');
  const posts = [];
  page.on('request', (request) => request.url().endsWith('/upload/') && posts.push(request.url()));
  await choose(page, [first, second]);
  await remark(page).getByText('These photos are in the list already.').waitFor();
  assert.equal(await status(page), 'These photos are in the list already.');
  assert.deepEqual(posts, []);
  const answered = page.waitForResponse((response) => response.url().endsWith('/upload/'));
  await choose(page, [film]);
  await answered;
  assert.equal(await isFinished(page), '2 added, 1 refused.');
  assert.equal((await reasons(page)).length, 1);
  assert.ok(!(await remark(page).isVisible()));

  await page.route('**/upload/', () => {});
  await choose(page, [third, fourth]);
  await page.getByText(/^3 of 5/).waitFor();
  await button(page, 'Cancel').click();
  assert.match(await isFinished(page), /2 cancelled/);
  await page.unroute('**/upload/');
  await choose(page, [third, fourth]);
  await page.getByText('4 added, 1 refused.', { exact: true }).waitFor();
  for (let refused = 0; refused < 2; refused += 1) await visit.watch.takesStatus(415);
  await remove();
});

world.test('photos that found no space can be sent again with a button', {}, async (visit) => {
  await visit.signIn(await world.newAccount(), SYNC);
  const { page } = visit;
  const body = JSON.stringify({ error: 'the storage of this account is full' });
  await page.route('**/upload/', (route) => route.fulfill({ status: 507, contentType: 'application/json', body }));
  await choose(page, photos(2));
  assert.equal(await isFinished(page), '2 refused.');
  await page.unroute('**/upload/');
  await button(page, 'Try all again').click();
  await page.getByText('2 added.', { exact: true }).waitFor();
  assert.deepEqual(await reasons(page), []);
  assert.ok(!(await button(page, 'Try all again').isVisible()));
  visit.watch.forgets(/status of 507/);
});

world.test('a file that waits to be sent again waits while others finish', {}, async (visit) => {
  await visit.signIn(await world.newAccount(), SYNC);
  const { page } = visit;
  // The long photo needs two requests. The second is refused, as if another request were writing.
  const long = photos(10).at(-1);
  const short = photos(70).filter((_, place) => place % 10 !== 9);
  await isStopped(page);
  await refusesParts(page);
  let tries = 0;
  let begun = 0;
  page.on('response', (response) => {
    tries += response.request().method() === 'PATCH';
    begun += response.request().method() === 'POST' && response.url().endsWith('/upload/');
  });
  await choose(page, [long, ...short]);
  while (begun < 64) await page.waitForEvent('response');
  assert.equal(tries, 1);
  await page.unroute('**/upload/*');
  await page.clock.resume();
  assert.equal(await isFinished(page), '64 added.');
  visit.watch.forgets(/status of 423/);
});

world.test('tries without a connection do not count', {}, async (visit) => {
  await visit.signIn(await world.newAccount(), SYNC);
  const { page } = visit;
  await page.clock.install();
  let lost = 0;
  await page.route('**/upload/', (route) => {
    lost += 1;
    return route.abort('connectionreset');
  });
  await choose(page, photos(1));
  while (lost < 30) await page.clock.runFor(30_000);
  await page.getByText(/^Trying again\. The connection was lost\. 0 of 1$/).waitFor();
  await page.unroute('**/upload/');
  await page.clock.runFor(60_000);
  assert.equal(await isFinished(page), '1 added.');
  visit.watch.forgets(LOST);
});

world.test('over http in the home network, what the library has is not sent', {}, async (_, another) => {
  const home = await world.atHome();
  const visit = await another(home);
  const { page } = visit;
  await visit.signIn(await world.newAccount(home), SYNC);
  assert.equal(await page.evaluate(() => typeof crypto.subtle), 'undefined');
  // Lengths around the ends of blocks and slices. The files are no photos, so each is hashed and then refused.
  const lengths = [1, 55, 56, 63, 64, 65, 2 ** 19 - 1, 2 ** 19, 2 ** 19 + 1, 3 * 2 ** 19 + 7];
  const buffers = lengths.map((length) => Buffer.alloc(length, `${length}`));
  const asked = page.waitForRequest('**/upload/known');
  await choose(page, buffers.map((buffer, place) => ({ name: `${place}.jpg`, mimeType: 'image/jpeg', buffer })));
  const sha256 = buffers.map((buffer) => createHash('sha256').update(buffer).digest('hex'));
  assert.deepEqual((await asked).postDataJSON(), { sha256 });
  assert.equal(await isFinished(page), '10 refused.');
  visit.watch.forgets(/status of 415/);

  await page.reload();
  await choose(page, photos(12));
  assert.equal(await isFinished(page), '12 added.');
  const sent = [];
  page.on('request', (request) => request.url().endsWith('/upload/') && sent.push(request.url()));
  await page.reload();
  await choose(page, photos(12));
  assert.equal(await isFinished(page), '12 were there already.');
  assert.deepEqual(sent, []);
});

world.test('the SHA-256 of the page is that of the standard', {}, async (visit) => {
  await visit.signIn(await world.newAccount(), SYNC);
  const hash = (text, times = 1) =>
    visit.page.evaluate(async ([part, count]) => {
      const { Sha256 } = await import(document.querySelector('a.upload').dataset.script);
      const sum = new Sha256();
      for (let number = 0; number < count; number += 1) sum.update(new TextEncoder().encode(part));
      return sum.digest();
    }, [text, times]);
  // FIPS 180-4, examples of the Cryptographic Standards and Guidelines.
  const long = 'abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq';
  assert.equal(await hash(''), 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
  assert.equal(await hash('abc'), 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  assert.equal(await hash(long), '248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1');
  assert.equal(await hash('a'.repeat(1000), 1000), 'cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0');
  const text = (length) => 'x'.repeat(length);
  for (let length = 0; length < 200; length += 7) {
    assert.equal(await hash(text(length), 3), createHash('sha256').update(text(3 * length)).digest('hex'), `${length}`);
  }
});

world.test('a large file is hashed in slices', {}, async (visit) => {
  await visit.signIn(await world.newAccount(), SYNC);
  const buffer = Buffer.alloc(9 * 2 ** 20, 'no photo');
  // Records the longest read, which must be a slice and not the file.
  await visit.page.evaluate(() => {
    const read = Blob.prototype.arrayBuffer;
    Blob.prototype.arrayBuffer = function arrayBuffer() {
      window.longestRead = Math.max(window.longestRead ?? 0, this.size);
      return read.call(this);
    };
  });
  const asked = visit.page.waitForRequest('**/upload/known');
  await choose(visit.page, [{ name: 'large.jpg', mimeType: 'image/jpeg', buffer }]);
  assert.deepEqual((await asked).postDataJSON(), { sha256: [createHash('sha256').update(buffer).digest('hex')] });
  assert.equal(await visit.page.evaluate(() => window.longestRead), 2 ** 19);
  assert.equal(await isFinished(visit.page), '1 refused.');
  await visit.watch.takesStatus(415);
});

world.test('archives and files about photos are left out, with a hint', {}, async (visit) => {
  await visit.signIn(await world.newAccount(), SYNC);
  const { page } = visit;
  const files = ['takeout-001.zip', 'a.jpg.xmp', 'a.jpg.json', 'a.AAE'];
  const other = files.map((name) => ({ name, mimeType: '', buffer: Buffer.from(name) }));
  await choose(page, other.slice(0, 1));
  await remark(page).getByText(/^takeout-001\.zip was left out/).waitFor();
  await remark(page).getByRole('link').click();
  assert.ok(await page.getByText(/server import person-\d+@example\.org \S+\.zip/).isVisible());
  await choose(page, [...other, ...photos(1)]);
  assert.equal(await isFinished(page), '1 added.');
  assert.match(await remark(page).textContent(), /3 files that describe photos were left out/);
});

world.test('a folder that cannot be read is named', {}, async (visit) => {
  await visit.signIn(await world.newAccount(), SYNC);
  const { page } = visit;
  const [{ name: photo, buffer }] = photos(1);
  const drop = () => page.evaluate(([fileName, bytes]) => {
    const data = new DataTransfer();
    const file = new File([new Uint8Array(bytes)], fileName, { lastModified: 1 });
    data.items.add(file);
    // A script cannot create a dropped folder, so this object has the interface of one.
    const folder = (title, inner) => ({
      name: title,
      createReader: () => ({ readEntries: (done, failed) => (inner ? done(inner.splice(0, 1)) : failed(new DOMException('denied'))) }),
    });
    const entry = (title, given) => ({
      name: title,
      isFile: true,
      file: (done, failed) => (given ? done(given) : failed(new DOMException('gone'))),
    });
    const real = DataTransferItem.prototype.webkitGetAsEntry;
    DataTransferItem.prototype.webkitGetAsEntry = () =>
      folder('Trip', [folder('Locked'), entry('gone.jpg'), entry(fileName, file)]);
    document.body.dispatchEvent(new DragEvent('drop', { bubbles: true, cancelable: true, dataTransfer: data }));
    DataTransferItem.prototype.webkitGetAsEntry = real;
  }, [photo, [...buffer]]);
  await drop();
  assert.equal(await isFinished(page), '1 added, 2 not readable.');
  assert.deepEqual(await reasons(page), ['Trip/Locked: The browser cannot read it.', 'Trip/gone.jpg: The browser cannot read it.']);
  await drop();
  await remark(page).waitFor();
  assert.equal((await reasons(page)).length, 2);
});

world.test('many photos stay smooth', {}, async (visit) => {
  await visit.signIn(await world.newAccount(), '/');
  const { page } = visit;
  const count = JUDGES_TIMES ? 1_000 : 200;
  // Small pictures that differ by a comment after the first marker, so that each is hashed, sent and decoded.
  const dropped = await page.evaluate(async (count) => {
    const canvas = Object.assign(document.createElement('canvas'), { width: 320, height: 240 });
    canvas.getContext('2d').fillRect(20, 20, 200, 100);
    const jpeg = new Uint8Array(await (await new Promise((done) => canvas.toBlob(done, 'image/jpeg'))).arrayBuffer());
    const data = new DataTransfer();
    for (let number = 0; number < count; number += 1) {
      const comment = new TextEncoder().encode(String(number).padStart(8, '0'));
      const parts = [jpeg.slice(0, 2), new Uint8Array([0xff, 0xfe, 0, comment.length + 2]), comment, jpeg.slice(2)];
      data.items.add(new File(parts, `photo-${number}.jpg`, { type: 'image/jpeg', lastModified: 1 }));
    }
    window.tasks = [];
    new PerformanceObserver((list) => window.tasks.push(...list.getEntries().map(({ duration }) => duration))).observe({ type: 'longtask' });
    // In a task of its own, so that making the files does not count.
    await new Promise((done) => setTimeout(done));
    document.body.dispatchEvent(new DragEvent('drop', { bubbles: true, cancelable: true, dataTransfer: data }));
    return data.files.length;
  }, count);
  assert.equal(dropped, count);
  let nodes = 0;
  for (let done = 0; done < count; done = Math.min(count, done + 100)) {
    if (done) await Promise.race([hasFinished(page, done), isFinished(page)]);
    nodes = Math.max(nodes, await page.locator('#tray *').count());
  }
  assert.equal(await isFinished(page), JUDGES_TIMES ? '1,000 added.' : '200 added.');
  within(`${count} photos`, 'nodes of the tray', nodes, 500);
  const tasks = await page.evaluate(() => window.tasks);
  within(`${count} photos`, 'longest task in ms', Math.max(0, ...tasks), 50, true);
});
