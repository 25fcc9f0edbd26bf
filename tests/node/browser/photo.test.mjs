// The photo page: zoom, neighbours, and the way back.

import assert from 'node:assert/strict';
import { DESK, LargeLibrary, PHONE } from './support/library.mjs';

const library = await LargeLibrary.forTests();

/** Opens a photo that has neighbours on both sides, and returns its path. */
async function openPhoto({ page }) {
  await page.goto('/');
  const path = await page.locator('#timeline li > a').nth(4).getAttribute('href');
  await page.goto(path);
  await loaded(page);
  return path;
}

const loaded = (page) => page.waitForFunction(() => document.getElementById('photo').naturalWidth > 0);
const path = (page) => new URL(page.url()).pathname;
const scaleOf = (page) => page.evaluate(() => new DOMMatrix(getComputedStyle(document.getElementById('photo')).transform).a);
const moved = (page, from) => page.waitForFunction((from) => location.pathname !== from, from);

library.test('neighbours are opened by key and link, and the focus stays', DESK, async ({ page }) => {
  const start = await openPhoto({ page });
  const [newer, older] = await page.evaluate(() => [...document.querySelectorAll('[rel="prev"], [rel="next"]')].map((link) => link.getAttribute('href')));
  await page.keyboard.press('ArrowRight');
  await moved(page, start);
  assert.equal(path(page), older);
  await page.keyboard.press('ArrowLeft');
  await moved(page, older);
  assert.equal(path(page), start);
  const link = page.locator('[rel="prev"]');
  await link.focus();
  await page.keyboard.press('Enter');
  await moved(page, start);
  assert.equal(path(page), newer);
  assert.equal(await page.evaluate(() => document.activeElement.rel), 'prev');
  assert.ok((await page.title()).length > 0);
  // A reload gives the same content.
  const text = await page.locator('.about').innerText();
  await page.reload();
  assert.equal(await page.locator('.about').innerText(), text);
});

library.test('neighbours are loaded before they are opened', DESK, async ({ page }) => {
  const requests = [];
  page.on('request', (request) => requests.push(new URL(request.url()).pathname));
  const start = await openPhoto({ page });
  await page.waitForLoadState('networkidle');
  const older = await page.locator('[rel="next"]').getAttribute('href');
  const image = older.replace('/photos/', '/p/');
  assert.ok(requests.includes(older) && requests.some((name) => name.startsWith(image) && name.endsWith('/1200.webp')));
  requests.length = 0;
  await page.keyboard.press('ArrowRight');
  await moved(page, start);
  assert.ok(!requests.some((name) => name === older), 'not requested twice');
});

library.test('a photo is zoomed by keys, wheel and double click, and the largest image is loaded then', DESK, async ({ page }) => {
  const start = await openPhoto({ page });
  await page.keyboard.press('z');
  assert.ok((await scaleOf(page)) > 2);
  await page.waitForFunction(() => document.getElementById('photo').src.endsWith('/full.webp'));
  await page.keyboard.press('ArrowRight');
  assert.equal(path(page), start, 'an arrow moves the zoomed photo');
  await page.keyboard.press('Escape');
  assert.equal(await scaleOf(page), 1);
  await page.keyboard.press('+');
  assert.equal(await scaleOf(page), 1.5);
  await page.keyboard.press('-');
  assert.equal(await scaleOf(page), 1);

  const box = await page.locator('#viewer').boundingBox();
  const middle = [box.x + box.width / 2, box.y + box.height / 2];
  await page.mouse.dblclick(...middle);
  const zoomed = await scaleOf(page);
  assert.ok(zoomed > 2);
  await page.mouse.wheel(0, -300);
  await page.waitForFunction((zoomed) => new DOMMatrix(getComputedStyle(document.getElementById('photo')).transform).a > zoomed, zoomed);
  // A drag moves the zoomed photo, but its edges stay outside of the stage.
  await page.mouse.down();
  await page.mouse.move(middle[0] + 5_000, middle[1] + 5_000, { steps: 4 });
  await page.mouse.up();
  const image = await page.locator('#photo').boundingBox();
  assert.ok(image.x <= box.x + 1 && image.y <= box.y + 1);
  await page.mouse.dblclick(...middle);
  assert.equal(await scaleOf(page), 1);
  await page.locator('#viewer a').focus();
  await page.keyboard.press('Enter');
  assert.ok((await scaleOf(page)) > 2, 'Enter zooms');
  assert.equal(path(page), start);
});

library.test('a swipe opens a neighbour and a pinch zooms', PHONE, async ({ page, browser }) => {
  const start = await openPhoto({ page });
  const older = await page.locator('[rel="next"]').getAttribute('href');
  const touch = (type, ...points) => browser.send('Input.dispatchTouchEvent', { type, touchPoints: points.map(([x, y], id) => ({ x, y, id })) });
  await touch('touchStart', [300, 400]);
  await touch('touchMove', [250, 402]);
  await touch('touchMove', [150, 404]);
  await touch('touchEnd');
  await moved(page, start);
  assert.equal(path(page), older);
  await loaded(page);
  await touch('touchStart', [180, 400]);
  await touch('touchStart', [180, 400], [230, 400]);
  await touch('touchMove', [140, 400], [290, 400]);
  await touch('touchMove', [105, 400], [305, 400]);
  await touch('touchEnd');
  assert.ok((await scaleOf(page)) > 2);
  assert.equal(path(page), older, 'a pinch is no swipe');
  // A zoomed photo is moved by one finger.
  await touch('touchStart', [300, 400]);
  await touch('touchMove', [150, 404]);
  await touch('touchEnd');
  assert.equal(path(page), older);
});

library.test('Escape leads back to the timeline, also from a neighbour', DESK, async (photos) => {
  const { page } = photos;
  await photos.open('/');
  await photos.scroll(9_000);
  await photos.rest();
  const { id, top } = await photos.first();
  await page.locator(`#timeline li[data-id="${id}"] > a`).evaluate((link) => link.click());
  await page.waitForURL(/\/photos\//);
  await page.keyboard.press('Escape');
  await page.waitForURL((url) => url.pathname === '/');
  await photos.rest();
  assert.ok(Math.abs((await photos.topOf(id)) - top) <= 1);
  await page.locator(`#timeline li[data-id="${id}"] > a`).evaluate((link) => link.click());
  await page.waitForURL(/\/photos\//);
  await loaded(page);
  const start = path(page);
  await page.keyboard.press('ArrowRight');
  await moved(page, start);
  const shown = path(page).slice('/photos/'.length);
  await page.keyboard.press('Escape');
  await page.waitForURL((url) => url.pathname === '/');
  await photos.rest();
  const at = await photos.topOf(shown);
  assert.ok(at >= 0 && at < DESK.viewport.height, `the neighbour is in sight at ${at}`);
});

library.test('the heart, the stars and keywords change without leaving the page', DESK, async ({ page }) => {
  const start = await openPhoto({ page });
  await page.evaluate(() => (window.isSameDocument = true));
  const favourite = (is) => page.locator(`#favorite[aria-pressed="${is}"]`).waitFor();
  const announced = (text) => page.waitForFunction((text) => document.getElementById('status').textContent.includes(text), text);
  await page.keyboard.press('f');
  await favourite(true);
  await announced('Added to your favourites.');
  await page.locator('#message').getByRole('button', { name: 'Undo' }).click();
  await favourite(false);
  await announced('The change is undone.');
  await page.locator('#favorite').focus();
  await page.keyboard.press('Enter');
  await favourite(true);
  assert.equal(await page.evaluate(() => document.activeElement.id), 'favorite');
  // The page of a photo that was changed is loaded again.
  await page.keyboard.press('ArrowRight');
  await moved(page, start);
  await favourite(false);
  const older = path(page);
  await page.keyboard.press('ArrowLeft');
  await moved(page, older);
  await favourite(true);

  await page.locator('#rating-4').click();
  await page.locator('#rating-4[aria-pressed="true"]').waitFor();
  await page.locator('#rating-4').click();
  await page.locator('#rating-4[aria-pressed="false"]').waitFor();
  await page.locator('#add').fill('Sea, Pier');
  await page.keyboard.press('Enter');
  await page.getByRole('link', { name: 'Pier', exact: true }).waitFor();
  assert.equal(await page.evaluate(() => document.activeElement.id), 'add');
  for (const keyword of ['Pier', 'Sea']) {
    await page.getByRole('button', { name: `Remove the keyword ${keyword}` }).click();
    await page.getByRole('link', { name: keyword, exact: true }).waitFor({ state: 'detached' });
  }
  assert.equal(await page.evaluate(() => document.activeElement.id), 'add');
  assert.ok(await page.evaluate(() => window.isSameDocument));
  assert.equal(path(page), start);
});

library.test('without JavaScript links lead to the neighbours, the largest image and the timeline', { ...DESK, javaScriptEnabled: false }, async ({ page }) => {
  await page.goto('/');
  await page.locator('#timeline li > a').nth(4).click();
  const start = path(page);
  const image = await page.locator('#viewer a').getAttribute('href');
  assert.match(image, /\/full\.webp$/);
  await page.locator('[rel="next"]').click();
  assert.notEqual(path(page), start);
  await page.locator('.back').click();
  assert.equal(path(page), '/');
});
