// The photo page: the stage, zoom, neighbours, the panel, the filmstrip, and the way back.

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
  // A reload gives the same content, and the panel stays open.
  await page.keyboard.press('i');
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
  // The point under the wheel stays where it is.
  const left = () => page.locator('#photo').evaluate((image) => image.getBoundingClientRect().left);
  const at = middle[0] - 200;
  const share = (at - (await left())) / (await page.locator('#photo').boundingBox()).width;
  await page.mouse.move(at, middle[1]);
  await page.mouse.wheel(0, -200);
  await page.waitForFunction(() => new DOMMatrix(getComputedStyle(document.getElementById('photo')).transform).a > 1.3);
  const shareNow = (at - (await left())) / (await page.locator('#photo').boundingBox()).width;
  assert.ok(Math.abs(share - shareNow) < 0.02, `${share} and ${shareNow}`);
  await page.keyboard.press('Escape');

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
  // A pinch that almost shows the whole photo shows all of it, so that a swipe leads on.
  await touch('touchStart', [105, 400]);
  await touch('touchStart', [105, 400], [305, 400]);
  await touch('touchMove', [190, 400], [235, 400]);
  await touch('touchEnd');
  assert.equal(await scaleOf(page), 1);
  await touch('touchStart', [100, 400]);
  await touch('touchMove', [200, 400]);
  await touch('touchMove', [300, 404]);
  await touch('touchEnd');
  await moved(page, older);
  assert.equal(path(page), start);
});

library.test('while a finger moves, the neighbour is beside the photo and follows it', PHONE, async ({ page, browser }) => {
  const start = await openPhoto({ page });
  await page.waitForFunction(() => document.querySelectorAll('#viewer .beside').length === 2);
  const touch = (type, ...points) => browser.send('Input.dispatchTouchEvent', { type, touchPoints: points.map(([x, y], id) => ({ x, y, id })) });
  const boxes = () =>
    page.evaluate(() => [...document.querySelectorAll('#viewer img')].map((image) => image.getBoundingClientRect()).filter(({ width }) => width > 0).map(({ left }) => left));
  await touch('touchStart', [300, 400]);
  await touch('touchMove', [280, 400]);
  const isAside = (by) => page.waitForFunction((by) => new DOMMatrix(getComputedStyle(document.getElementById('photo')).transform).e === by, by);
  await touch('touchMove', [80, 400]);
  await isAside(-220);
  const before = await boxes();
  await touch('touchMove', [60, 400]);
  await isAside(-240);
  const after = await boxes();
  assert.equal(before.length, 3);
  assert.ok(before.some((left) => left > 100 && left < PHONE.viewport.width), `the older photo is in sight: ${before}`);
  for (const [index, left] of after.entries()) assert.ok(Math.abs(left - before[index] + 20) <= 1, 'all follow the finger');
  // Back to where it began: nothing has moved.
  await touch('touchMove', [299, 400]);
  await touch('touchEnd');
  await page.waitForFunction(() => document.querySelectorAll('#viewer .beside:not([hidden])').length === 0);
  assert.equal(path(page), start);
});

library.test('a swipe down closes the photo, and one up opens the panel', PHONE, async (photos) => {
  const { page, browser } = photos;
  await photos.open('/');
  await page.locator('#timeline li > a').nth(4).tap();
  await page.waitForURL(/\/photos\//);
  await loaded(page);
  const touch = (type, ...points) => browser.send('Input.dispatchTouchEvent', { type, touchPoints: points.map(([x, y], id) => ({ x, y, id })) });
  const swipe = async (from, to) => {
    await touch('touchStart', [200, from]);
    await touch('touchMove', [201, (from + to) / 2]);
    await touch('touchMove', [202, to]);
    await touch('touchEnd');
  };
  await swipe(600, 350);
  await page.locator('.about h2').waitFor();
  await page.locator('.about').getByRole('button', { name: 'Close' }).click();
  await page.locator('.about').waitFor({ state: 'hidden' });
  assert.equal(await page.evaluate(() => document.activeElement.id), 'info');
  await swipe(300, 600);
  await page.waitForURL((url) => url.pathname === '/');
});

library.test('the picture fills the window on black, and the controls fade while nothing happens', { ...DESK, colorScheme: 'light' }, async ({ page }) => {
  await openPhoto({ page });
  const stage = await page.locator('.stage').boundingBox();
  assert.deepEqual([stage.x, stage.y, stage.width, stage.height], [0, 0, DESK.viewport.width, DESK.viewport.height]);
  assert.equal(await page.locator('.stage').evaluate((element) => getComputedStyle(element).backgroundColor), 'rgb(0, 0, 0)');
  const opacity = (value) => page.waitForFunction((value) => getComputedStyle(document.querySelector('.bar')).opacity === value, value);
  await opacity('0');
  await page.mouse.move(500, 500);
  await opacity('1');
  await opacity('0');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Tab');
  await opacity('1');
  assert.ok(await page.evaluate(() => document.querySelector('.bar').contains(document.activeElement)));
});

library.test('the panel is opened by key and button, moves the picture aside, and is remembered', DESK, async ({ page }) => {
  const start = await openPhoto({ page });
  const panel = page.locator('.about');
  const info = page.locator('#info');
  assert.ok(await panel.isHidden());
  await page.keyboard.press('i');
  assert.ok(await panel.isVisible());
  assert.equal(await info.getAttribute('aria-expanded'), 'true');
  const [picture, facts] = [await page.locator('#viewer').boundingBox(), await panel.boundingBox()];
  assert.ok(picture.x + picture.width <= facts.x + 1);
  await page.keyboard.press('ArrowRight');
  await moved(page, start);
  assert.ok(await panel.isVisible());
  await page.goto(start);
  assert.ok(await panel.isVisible());
  await info.focus();
  await page.keyboard.press('Space');
  assert.ok(await panel.isHidden());
  assert.equal(await info.getAttribute('aria-expanded'), 'false');
  await page.reload();
  assert.ok(await panel.isHidden());
  // A narrow window has the panel below the picture, and a very small one in its place.
  await page.keyboard.press('i');
  await page.setViewportSize({ width: 390, height: 844 });
  const [above, below] = [await page.locator('.stage').boundingBox(), await panel.boundingBox()];
  assert.ok(above.height > 250 && Math.abs(above.y + above.height - below.y) <= 1);
  await page.setViewportSize({ width: 320, height: 256 });
  assert.ok(await page.locator('.stage').isHidden());
  await page.keyboard.press('Escape');
  assert.ok(await page.locator('.stage').isVisible());
  assert.ok(await panel.isHidden());
});

library.test('the filmstrip shows the photos nearby, and a click opens one', DESK, async ({ page }) => {
  const start = await openPhoto({ page });
  const current = page.locator('.strip [aria-current="page"]');
  await current.waitFor();
  assert.equal(await current.getAttribute('href'), start);
  const hrefs = await page.locator('.strip a').evaluateAll((links) => links.map((link) => link.getAttribute('href')));
  assert.ok(hrefs.length > 15);
  const here = hrefs.indexOf(start);
  const beside = ['prev', 'next'].map((rel) => page.locator(`[rel="${rel}"]`).getAttribute('href'));
  assert.deepEqual(await Promise.all(beside), [hrefs[here - 1], hrefs[here + 1]]);
  await page.evaluate(() => (window.isSameDocument = true));
  await page.locator('.strip a').nth(here + 3).click();
  await moved(page, start);
  assert.equal(path(page), hrefs[here + 3]);
  await page.waitForFunction((href) => document.querySelector('.strip [aria-current="page"]').getAttribute('href') === href, hrefs[here + 3]);
  await page.keyboard.press('ArrowRight');
  await page.waitForFunction((href) => document.querySelector('.strip [aria-current="page"]').getAttribute('href') === href, hrefs[here + 4]);
  assert.ok(await page.evaluate(() => window.isSameDocument));
  // Further away, more photos are loaded.
  for (let moves = 0; moves < 3; moves += 1) {
    const from = path(page);
    await page.locator('.strip a').last().click();
    await moved(page, from);
    await page.waitForFunction(() => {
      const current = document.querySelector('.strip [aria-current="page"]');
      return new URL(current.href).pathname === location.pathname && current.parentElement.nextElementSibling;
    });
  }
});

library.test('a click in the filmstrip counts although more photos arrive during it', DESK, async ({ page }) => {
  let hold;
  // From the start: if requests are intercepted while images load, those may never arrive.
  await page.route('**/web/months/around?*', (route) => (hold ? hold(route) : route.continue()));
  const start = await openPhoto({ page });
  await page.locator('.strip [aria-current="page"]').waitFor();
  const held = new Promise((resolve) => (hold = resolve));
  await page.keyboard.press('ArrowRight');
  await moved(page, start);
  const question = await held;
  const from = path(page);
  const [pressed, arrived] = [page.locator('.strip a').nth(8), page.waitForEvent('requestfinished', (request) => request.url().includes('around'))];
  const to = await pressed.getAttribute('href');
  await pressed.hover();
  await page.mouse.down();
  await question.continue();
  await arrived;
  await page.evaluate(() => new Promise((done) => setTimeout(done, 50)));
  await page.mouse.up();
  await moved(page, from);
  assert.equal(path(page), to);
});

library.test('the slideshow starts and stops by key, and shows the next photo', DESK, async ({ page }) => {
  const start = await openPhoto({ page });
  const says = (text) => page.waitForFunction((text) => document.getElementById('status').textContent === text, text);
  await page.keyboard.press('Space');
  await says('The slideshow has started.');
  await page.getByRole('button', { name: 'Stop the slideshow' }).waitFor();
  await moved(page, start);
  const second = path(page);
  await moved(page, second);
  await page.keyboard.press('Escape');
  await says('The slideshow has stopped.');
  assert.match(path(page), /^\/photos\//);
  await page.getByRole('button', { name: 'Start the slideshow' }).waitFor();
});

library.test('the picture fills the screen by Shift and f', DESK, async ({ page }) => {
  const start = await openPhoto({ page });
  await page.keyboard.press('Shift+F');
  await page.waitForFunction(() => document.fullscreenElement);
  await page.keyboard.press('ArrowRight');
  await moved(page, start);
  assert.ok(await page.evaluate(() => Boolean(document.fullscreenElement)));
  await page.keyboard.press('Shift+F');
  await page.waitForFunction(() => !document.fullscreenElement);
});

library.test('the picture is saved as a WebP with the name of its file', DESK, async ({ page }) => {
  await openPhoto({ page });
  await page.keyboard.press('i');
  const [saved] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name: 'Save this picture' }).click()]);
  assert.match(saved.suggestedFilename(), /^IMG_\d{6}\.webp$/);
  assert.match(saved.url(), /\/full\.webp$/);
});

for (const reducedMotion of ['no-preference', 'reduce']) {
  library.test(`the photo opens out of its tile and goes back into it: motion ${reducedMotion}`, { ...DESK, reducedMotion }, async (photos) => {
    const { page } = photos;
    await page.addInitScript(() => {
      const seen = (name) => ({ viewTransition, persisted }) => {
        const image = document.querySelector('#photo, #timeline li img[style*="view-transition-name"]');
        const part = viewTransition ? image?.style.viewTransitionName : 'none';
        sessionStorage.setItem('seen', `${sessionStorage.getItem('seen') ?? ''} ${name}:${location.pathname.split('/')[1]}:${part}`);
      };
      // After the listeners of the page.
      addEventListener('DOMContentLoaded', () => addEventListener('pageswap', seen('from')));
      addEventListener('pagereveal', (event) => requestAnimationFrame(() => seen('to')(event)));
    });
    const part = reducedMotion === 'reduce' ? 'none' : 'photo';
    let seen;
    // A slow machine may paint the timeline before the tile has arrived. Then nothing moves.
    for (let tries = 0; tries < 3 && seen?.at(-1) !== `to::${part}`; tries += 1) {
      await photos.open('/');
      await page.evaluate(() => sessionStorage.removeItem('seen'));
      await page.locator('#timeline li > a').nth(4).click();
      await page.waitForURL(/\/photos\//);
      await loaded(page);
      await page.keyboard.press('Escape');
      await page.waitForURL((url) => url.pathname === '/');
      await photos.rest();
      seen = await page.evaluate(() => sessionStorage.getItem('seen').trim().split(' '));
    }
    assert.deepEqual(seen, [`from::${part}`, `to:photos:${part}`, `from:photos:${part}`, `to::${part}`]);
  });
}

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

  await page.keyboard.press('i');
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
