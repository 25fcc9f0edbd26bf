// Photos are dropped, pasted and chosen on any page, and the tray shows what comes of them.

import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { World } from './support/harness.mjs';
import { hasFocus, press, words } from './support/pages.mjs';
import { movie, photos } from './support/photos.mjs';
import { importPhotos, minute } from './support/places.mjs';
import { button, chooseInHeader, give, isFinished, reasons, remark, written } from './support/upload.mjs';

const world = await World.forTests();
const DESK = { viewport: { width: 1440, height: 900 } };
const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };
const LOST = /^console: Failed to load resource: net::ERR_/;

const tray = (page) => page.locator('#tray');
const target = (page) => page.locator('#upload-target');
const tiles = (page) => page.locator('#timeline li');

/** Signs in a person with some photos, and opens a page. */
async function withPhotos(visit, path = '/', count = 3) {
  const person = await world.newAccount();
  await importPhotos(world.service, person, Array.from({ length: count }, (_, age) => ({ at: minute(age) })));
  await visit.signIn(person, path);
  return person;
}

/** Drags files of this machine over the middle of the window. */
async function drag({ page, watch }, type, files, items = []) {
  const data = { items, files, dragOperationsMask: 1 };
  await watch.browser.send('Input.dispatchDragEvent', { type, x: 600, y: 400, data });
}

world.test('photos that are dropped on the timeline appear in it, and the tray leads to them', DESK, async (visit) => {
  const { page } = visit;
  await withPhotos(visit);
  await page.locator('#timeline.placed').waitFor();
  const before = await tiles(page).count();
  assert.ok(await give(page, photos(2)));
  assert.equal(await isFinished(page), '2 added.');
  assert.equal(await page.locator('#upload-status').textContent(), 'Finished: 2 added.');
  await page.waitForFunction((before) => document.querySelectorAll('#timeline li').length === before + 2, before);
  // The row shows the file itself.
  await page.locator('#tray canvas:not([hidden])').first().waitFor();
  const show = tray(page).getByRole('link', { name: 'Show photo-1.png' });
  await press(page, show);
  assert.match(new URL(page.url()).pathname, /^\/photos\/./);
  await page.locator('#photo').waitFor();
});

world.test('a folder of this machine is dropped on the window', DESK, async (visit) => {
  const { page } = visit;
  await withPhotos(visit, '/albums');
  const folder = await mkdtemp(join(tmpdir(), 'drop-'));
  try {
    await mkdir(join(folder, 'Trip', 'Day 1'), { recursive: true });
    for (const { name, buffer } of photos(3)) await writeFile(join(folder, 'Trip', 'Day 1', name), buffer);
    await drag(visit, 'dragEnter', [join(folder, 'Trip')]);
    await drag(visit, 'dragOver', [join(folder, 'Trip')]);
    await target(page).getByText('Drop photos to add them', { exact: true }).waitFor();
    await drag(visit, 'dragCancel', [join(folder, 'Trip')]);
    await target(page).waitFor({ state: 'detached' });
    await drag(visit, 'dragEnter', [join(folder, 'Trip')]);
    await drag(visit, 'dragOver', [join(folder, 'Trip')]);
    await target(page).waitFor();
    await drag(visit, 'drop', [join(folder, 'Trip')]);
    assert.equal(await isFinished(page), '3 added.');
    assert.equal(await target(page).count(), 0);
    assert.deepEqual(await tray(page).locator('.name').allTextContents(), photos(3).map(({ name }) => `Trip/Day 1/${name}`));
  } finally {
    await rm(folder, { recursive: true });
  }
});

world.test('photos can be dropped on every page', DESK, async (visit) => {
  const { page } = visit;
  await withPhotos(visit);
  const photo = await tiles(page).first().locator('a').getAttribute('href');
  const paths = [photo, `${photo}/edit`, '/albums', '/search', '/search?q=a', '/map', '/archive', '/trash', '/problems', '/account', '/account/password'];
  for (const [place, path] of paths.entries()) {
    await page.goto(path);
    await give(page, [photos(paths.length)[place]]);
    assert.equal(await isFinished(page), '1 added.', path);
  }
});

world.test('photos that are dropped on an album are added to it', DESK, async (visit) => {
  const { page } = visit;
  await withPhotos(visit, '/albums');
  await page.locator('#new-title').fill('Boats & “more”');
  await press(page, page.getByRole('button', { name: 'Create' }));
  const album = page.url();
  await drag(visit, 'dragEnter', ['/nothing']);
  await drag(visit, 'dragOver', ['/nothing']);
  await target(page).getByText('Drop photos to add them to “Boats & “more””').waitFor();
  await drag(visit, 'dragCancel', ['/nothing']);
  await give(page, photos(2));
  await tray(page).getByText('Added to “Boats & “more””').nth(1).waitFor();
  assert.equal(await isFinished(page), '2 added.');
  await page.goto(album);
  assert.equal(await page.locator('ul.rows li').count(), 2);
  // Photos that the library has are added as well.
  await page.goto('/albums');
  await page.locator('summary', { hasText: 'New album' }).click();
  await page.locator('#new-title').fill('Cars');
  await press(page, page.getByRole('button', { name: 'Create' }));
  const cars = page.url();
  await give(page, photos(1));
  await tray(page).getByText('Added to “Cars”').waitFor();
  assert.equal(await isFinished(page), '1 was there already.');
  await page.goto(cars);
  assert.equal(await page.locator('ul.rows li').count(), 1);
});

world.test('pictures are pasted, but not into a field', DESK, async (visit) => {
  const { page } = visit;
  await withPhotos(visit, '/search');
  const field = page.locator('#q');
  await field.focus();
  assert.ok(!(await give(page, photos(1), 'paste', 'words')), 'the field gets the words');
  await field.blur();
  assert.ok(await give(page, photos(1), 'paste'));
  assert.equal(await isFinished(page), '1 added.');
});

world.test('a drag of something else does nothing', DESK, async (visit) => {
  const { page } = visit;
  await withPhotos(visit);
  await page.locator('#timeline.placed').waitFor();
  const scripts = [];
  page.on('request', (request) => request.url().includes('upload') && scripts.push(request.url()));
  await drag(visit, 'dragEnter', [], [{ mimeType: 'text/plain', data: 'words' }]);
  await drag(visit, 'dragOver', [], [{ mimeType: 'text/plain', data: 'words' }]);
  await drag(visit, 'drop', [], [{ mimeType: 'text/plain', data: 'words' }]);
  // A picture of the page itself.
  await page.evaluate(() => document.querySelector('#timeline img').dispatchEvent(new DragEvent('dragstart', { bubbles: true })));
  assert.ok(!(await give(page, photos(1))));
  await page.evaluate(() => document.querySelector('#timeline img').dispatchEvent(new DragEvent('dragend', { bubbles: true })));
  assert.equal(await tray(page).count() + (await target(page).count()), 0);
  assert.deepEqual(scripts, []);
  assert.ok(await give(page, photos(1)));
  assert.equal(await isFinished(page), '1 added.');
});

world.test('the button in the header opens the file picker, also by keyboard', DESK, async (visit) => {
  const { page } = visit;
  await withPhotos(visit, '/map');
  const [first, second] = photos(2);
  // Otherwise the browser begins to report pickers only after the key.
  page.on('filechooser', () => {});
  await chooseInHeader(page, [first]);
  assert.equal(await isFinished(page), '1 added.');
  await button(page, 'Close').click();
  assert.equal(await tray(page).count(), 0);
  await hasFocus(page.getByRole('button', { name: 'Upload', exact: true }));
  const [chooser] = await Promise.all([page.waitForEvent('filechooser'), page.keyboard.press('Space')]);
  assert.ok(chooser.isMultiple());
  await chooser.setFiles([first, second]);
  assert.equal(await isFinished(page), '1 added, 1 was there already.');
});

world.test('a file that was refused says why, and one that found no space is tried again', DESK, async (visit) => {
  const { page } = visit;
  await withPhotos(visit, '/trash');
  let isFull = true;
  await page.route('**/upload/', (route) => (isFull ? route.fulfill({ status: 507, json: { error: 'full' } }) : route.continue()));
  await give(page, photos(1));
  assert.equal(await isFinished(page), '1 refused.');
  assert.deepEqual(await reasons(page), ['photo-0.png: Your storage is full.']);
  isFull = false;
  await button(page, 'Try again: photo-0.png').press('Enter');
  await page.getByText('1 added.', { exact: true }).waitFor();
  await give(page, [movie('walk.mp4')]);
  await page.getByText('1 added, 1 refused.', { exact: true }).waitFor();
  assert.deepEqual(await reasons(page), ['walk.mp4: Movies cannot be added, only photos.']);
  assert.equal(await tray(page).getByRole('button', { name: /Try/ }).count(), 0);
  visit.watch.forgets(/status of (507|415)/);
});

world.test('after the network was cut, the upload goes on by itself', DESK, async (visit) => {
  const { page, context, watch } = visit;
  await withPhotos(visit);
  await page.locator('#timeline.placed').waitFor();
  let posts = 0;
  await page.route('**/upload/', (route) => {
    posts += 1;
    return posts <= 3 ? route.abort('connectionreset') : route.continue();
  });
  // The script of the upload is loaded while files are dragged.
  await drag(visit, 'dragEnter', ['/nothing']);
  await drag(visit, 'dragOver', ['/nothing']);
  await target(page).waitFor();
  await context.setOffline(true);
  await give(page, photos(12));
  await page.getByText(/^Waiting for the connection\. 0 of 12$/).first().waitFor();
  await context.setOffline(false);
  assert.equal(await isFinished(page), '12 added.');
  watch.forgets(LOST);
});

world.test('the tray is used by keyboard', DESK, async (visit) => {
  const { page } = visit;
  await withPhotos(visit, '/archive');
  await page.route('**/upload/', () => {});
  await give(page, photos(4));
  await button(page, 'Pause').waitFor();
  const toggle = button(page, 'Details');
  await toggle.focus();
  assert.equal(await toggle.getAttribute('aria-expanded'), 'true');
  await page.keyboard.press('Enter');
  await button(page, 'Pause').waitFor({ state: 'hidden' });
  await page.keyboard.press('Enter');
  await page.keyboard.press('Tab');
  await hasFocus(button(page, 'Pause'));
  await page.keyboard.press('Space');
  await page.getByText('Paused. 0 of 4').waitFor();
  await hasFocus(button(page, 'Continue'));
  await page.keyboard.press('Space');
  await page.keyboard.press('Tab');
  await hasFocus(button(page, 'Cancel'));
  await page.keyboard.press('Enter');
  assert.equal(await isFinished(page), '4 cancelled.');
  await hasFocus(button(page, 'Close'));
  await page.keyboard.press('Tab');
  await hasFocus(tray(page).getByRole('group', { name: 'Files' }));
  await page.keyboard.press('Shift+Tab');
  await page.keyboard.press('Enter');
  await hasFocus(page.getByRole('button', { name: 'Upload', exact: true }));
});

world.test('leaving the page asks, and the next page says how to go on', DESK, async (visit) => {
  const { page } = visit;
  await withPhotos(visit);
  const { paths, remove } = await written(photos(6));
  let posts = 0;
  await page.route('**/upload/', (route) => {
    posts += 1;
    return posts <= 2 ? route.continue() : undefined;
  });
  await chooseInHeader(page, paths);
  await page.getByText(/^2 of 6/).waitFor();
  const asked = page.waitForEvent('dialog');
  const albums = page.getByRole('link', { name: 'Albums', exact: true }).first();
  const clicked = albums.click({ noWaitAfter: true });
  const dialog = await asked;
  assert.equal(dialog.type(), 'beforeunload');
  await dialog.accept();
  await clicked;
  await page.waitForURL('**/albums');
  await remark(page).getByText('2 of 6 photos were done').waitFor();
  await page.unroute('**/upload/');
  const [chooser] = await Promise.all([page.waitForEvent('filechooser'), button(page, 'Choose photos').click()]);
  await chooser.setFiles(paths);
  assert.equal(await isFinished(page), '4 added, 2 were there already.');
  assert.ok(!(await remark(page).isVisible()));
  await page.goto('/albums');
  await page.waitForLoadState('networkidle');
  assert.equal(await tray(page).count(), 0);
  await remove();
});

world.test('on a phone, the tray is one line above the bar', PHONE, async (visit) => {
  const { page } = visit;
  await withPhotos(visit);
  await chooseInHeader(page, photos(2));
  assert.equal(await isFinished(page), '2 added.');
  const box = await tray(page).boundingBox();
  const dock = await page.locator('.dock nav').boundingBox();
  assert.ok(box.y + box.height <= dock.y && box.height < 80, `${box.y} and ${box.height}, ${dock.y}`);
  await button(page, 'Details').click();
  await tray(page).getByText('photo-1.png').waitFor();
  assert.ok((await tray(page).boundingBox()).y > 0);
});

world.test('without JavaScript, the link leads to the form', { ...DESK, javaScriptEnabled: false }, async (visit) => {
  const { page } = visit;
  await visit.signIn(await world.newAccount(), '/albums');
  await page.getByRole('link', { name: 'Upload', exact: true }).click();
  assert.equal(new URL(page.url()).pathname, '/account/sync');
  assert.match(await words(page), /Choose photos/);
  assert.equal(await page.locator('form.drop input[type="file"]').count(), 1);
});
