// An album in its own order: photos are dragged, moved by keys and by buttons, and put back.

import assert from 'node:assert/strict';
import { World } from './support/harness.mjs';
import { press, words } from './support/pages.mjs';
import { importPlaces } from './support/places.mjs';
import { TIMEOUT_MS } from './support/watch.mjs';

const world = await World.forTests();
const LISBON = [38.7223, -9.1393];

const tiles = (page) => page.locator('ul.rows > li');
const ids = (page) => tiles(page).evaluateAll((all) => all.map(({ dataset }) => dataset.id));
const button = (page, name) => page.getByRole('button', { name, exact: true });

/** Opens a new album in its own order, and returns the ids of its photos. */
async function openAlbum(visit, count) {
  const { page } = visit;
  const person = await world.newAccount();
  await importPlaces(world.service, person, Array.from({ length: count }, () => LISBON));
  await visit.signIn(person, '/albums');
  await page.getByLabel('Title').fill('Walks');
  await press(page, button(page, 'Create'));
  const album = page.url();
  await page.goto(`${album}/add`);
  for (const box of await page.locator('.picks input').all()) await box.check();
  await press(page, page.locator('#add-picked'));
  await page.locator('summary', { hasText: 'Order' }).click();
  await press(page, button(page, 'My order'));
  assert.equal(page.url(), album);
  return ids(page);
}

/** Waits until the page shows these photos in this order. */
const shows = (page, expected) =>
  page.waitForFunction(
    (wanted) => wanted === [...document.querySelectorAll('ul.rows > li')].map(({ dataset }) => dataset.id).join(),
    expected.join(),
    { timeout: TIMEOUT_MS },
  );

/** Waits until the page shows these photos, and the service, too. */
async function keeps(page, expected) {
  await shows(page, expected);
  await page.locator('ul.rows:not([aria-busy="true"])').waitFor();
  await page.reload();
  assert.deepEqual(await ids(page), expected);
}

/** A point of a tile: `part` of its width from the left. */
async function pointOf(page, place, part) {
  const { x, y, width, height } = await tiles(page).nth(place).boundingBox();
  return { x: x + width * part, y: y + height * 0.7 };
}

const points = (from, to, steps = 8) =>
  Array.from({ length: steps }, (_, step) => ({
    x: from.x + ((to.x - from.x) * (step + 1)) / steps,
    y: from.y + ((to.y - from.y) * (step + 1)) / steps,
  }));

async function dragTo(page, from, to, part) {
  const [start, end] = [await pointOf(page, from, 0.5), await pointOf(page, to, part)];
  await page.mouse.move(start.x, start.y);
  await page.mouse.down();
  for (const { x, y } of points(start, end)) await page.mouse.move(x, y);
}

world.test('photos are dragged with the mouse, and put back', {}, async (visit) => {
  const { page } = visit;
  const [a, b, c, d, e, f] = await openAlbum(visit, 6);
  const album = page.url();
  await dragTo(page, 0, 3, 0.2);
  await page.locator('#carried').waitFor();
  assert.equal(await tiles(page).nth(3).getAttribute('class'), 'into-before');
  await page.mouse.up();
  await shows(page, [b, c, a, d, e, f]);
  assert.equal(page.url(), album, 'the photo does not open');
  assert.match(await page.locator('#message').innerText(), /Photo moved to place 3 of 6\./);
  await keeps(page, [b, c, a, d, e, f]);

  // Selected photos move together. Escape leaves them where they are.
  for (const place of [1, 4]) await tiles(page).nth(place).getByRole('checkbox').check();
  await dragTo(page, 4, 0, 0.2);
  assert.equal(await page.locator('#carried').innerText(), '2');
  await page.keyboard.press('Escape');
  await page.mouse.up();
  assert.deepEqual(await ids(page), [b, c, a, d, e, f]);
  await dragTo(page, 4, 5, 0.9);
  await page.mouse.up();
  await shows(page, [b, a, d, f, c, e]);
  await button(page, 'Undo').click();
  await page.locator('#message').getByText('2 photos moved back.').waitFor();
  await keeps(page, [b, c, a, d, e, f]);
  // A click still opens the photo.
  await press(page, tiles(page).nth(1).getByRole('link'));
  assert.match(page.url(), new RegExp(`/photos/${c}\\?in=`));
  await page.keyboard.press('ArrowRight');
  await page.waitForURL(new RegExp(`/photos/${a}\\?in=`));
});

world.test('photos are moved by keys and by buttons', {}, async (visit) => {
  const { page } = visit;
  const [a, b, c, d, e, f] = await openAlbum(visit, 6);
  await tiles(page).nth(1).getByRole('link').focus();
  await page.keyboard.press('Alt+Shift+ArrowRight');
  await shows(page, [a, c, b, d, e, f]);
  await page.keyboard.press('Alt+Shift+ArrowRight');
  await shows(page, [a, c, d, b, e, f]);
  assert.equal(await page.locator('#status').textContent(), 'Photo moved to place 4 of 6.');
  assert.equal(await page.evaluate(() => document.activeElement.closest('li').dataset.id), b, 'it keeps the focus');
  await keeps(page, [a, c, d, b, e, f]);
  await tiles(page).nth(0).getByRole('link').focus();
  await page.keyboard.press('Alt+Shift+ArrowLeft');
  assert.equal(await page.locator('#status').textContent(), 'This is the first place.');
  await page.keyboard.press('?');
  await page.getByText('Move the photo, or the selected photos').waitFor();
  await page.keyboard.press('Escape');

  for (const place of [2, 4]) await tiles(page).nth(place).getByRole('checkbox').check();
  await button(page, 'Move earlier').click();
  await shows(page, [a, d, e, c, b, f]);
  await button(page, 'Move to the end').click();
  await shows(page, [a, c, b, f, d, e]);
  await button(page, 'Undo').click();
  await keeps(page, [a, c, d, b, e, f]);
});

world.test('photos are moved without a script', { javaScriptEnabled: false }, async (visit) => {
  const { page } = visit;
  const [a, b, c, d] = await openAlbum(visit, 4);
  assert.match(await words(page), /Select photos, then move them with the arrows\./);
  await tiles(page).nth(2).getByRole('checkbox').check();
  // The photo stays selected for the next step.
  await press(page, button(page, 'Move earlier'));
  assert.deepEqual(await ids(page), [a, c, b, d]);
  await press(page, button(page, 'Move earlier'));
  await press(page, button(page, 'Move earlier'));
  assert.deepEqual(await ids(page), [c, a, b, d]);
  await tiles(page).nth(1).getByRole('checkbox').check();
  await press(page, button(page, 'Move later'));
  assert.deepEqual(await ids(page), [b, c, a, d]);
  await press(page, button(page, 'Move to the end'));
  assert.deepEqual(await ids(page), [b, d, c, a]);
  await press(page, button(page, 'Move to the start'));
  assert.deepEqual(await ids(page), [c, a, b, d]);
});

world.test('photos move from page to page', {}, async (visit) => {
  const { page } = visit;
  const all = await openAlbum(visit, 63);
  assert.equal(all.length, 60);
  const follow = (name) => press(page, page.getByRole('link', { name }));
  await follow('Next photos');
  const rest = await ids(page);
  assert.equal(rest.length, 3);
  await tiles(page).nth(0).getByRole('link').focus();
  await Promise.all([page.waitForNavigation(), page.keyboard.press('Alt+Shift+ArrowLeft')]);
  assert.deepEqual((await ids(page)).slice(0, 2), [rest[0], all[59]]);
  assert.ok(await tiles(page).nth(0).getByRole('checkbox').isChecked());
  await page.goto(page.url().split('?')[0]);
  assert.deepEqual(await ids(page), [...all.slice(0, 59), rest[0]]);
  // Behind the last photo of a page is before the first of the next.
  await tiles(page).nth(0).getByRole('link').focus();
  await page.keyboard.press('Alt+Shift+ArrowUp');
  assert.equal(await page.locator('#status').textContent(), 'This is the first place.');
  await tiles(page).nth(58).getByRole('link').focus();
  await page.keyboard.press('Alt+Shift+ArrowRight');
  await keeps(page, [...all.slice(0, 58), rest[0], all[58]]);
  await follow('Next photos');
  assert.deepEqual(await ids(page), [all[59], rest[1], rest[2]]);
  // The page begins with the photo that becomes its first one.
  await tiles(page).nth(1).getByRole('link').focus();
  await page.keyboard.press('Alt+Shift+ArrowLeft');
  await keeps(page, [rest[1], all[59], rest[2]]);
  // Only the photo that has the focus goes to the other page, after a move that is not sent yet.
  await tiles(page).nth(2).getByRole('checkbox').check();
  await tiles(page).nth(1).getByRole('link').focus();
  await page.keyboard.press('Alt+Shift+ArrowLeft');
  // The address changes before, too.
  await Promise.all([page.waitForEvent('load'), page.keyboard.press('Alt+Shift+ArrowLeft')]);
  assert.deepEqual(await ids(page), [all[59], all[58], rest[1], rest[2]]);
  await tiles(page).nth(0).getByRole('checkbox').uncheck();
  await tiles(page).nth(3).getByRole('checkbox').check();
  await press(page, button(page, 'Move to the start'));
  assert.deepEqual((await ids(page)).slice(0, 2), [rest[2], all[0]]);
});

world.test('photos are dragged by touch after a long press', { hasTouch: true, isMobile: true, viewport: { width: 390, height: 600 } }, async (visit) => {
  const { page, context } = visit;
  const [a, b, c, d, ...others] = await openAlbum(visit, 30);
  const device = await context.newCDPSession(page);
  const touch = (type, ...touchPoints) => device.send('Input.dispatchTouchEvent', { type, touchPoints });
  // Away from the edges of the window, where a drag scrolls.
  await tiles(page).nth(0).evaluate((item) => item.scrollIntoView({ block: 'center', behavior: 'instant' }));
  const [from, to] = [await pointOf(page, 0, 0.6), await pointOf(page, 2, 0.9)];
  await touch('touchStart', from);
  await page.locator('#carried').waitFor();
  for (const point of points(from, to)) await touch('touchMove', point);
  await page.locator('.into-after').waitFor();
  await touch('touchEnd');
  await keeps(page, [b, c, a, d, ...others]);
  // Without a long press, the page scrolls.
  const top = await page.evaluate(() => scrollY);
  await touch('touchStart', { x: 200, y: 500 });
  for (const point of points({ x: 200, y: 500 }, { x: 200, y: 200 })) await touch('touchMove', point);
  await touch('touchEnd');
  await page.waitForFunction((before) => scrollY > before + 100, top);
  assert.deepEqual(await ids(page), [b, c, a, d, ...others]);
});

/** Holds the requests that move photos. Returns their moves, and a function that goes on with `answer`. */
async function holdMoves(page) {
  const moves = [];
  let goOn;
  const going = new Promise((resolve) => (goOn = resolve));
  await page.route('**/move', async (route) => {
    moves.push(route.request().postDataJSON().moves);
    const answer = await going;
    await (answer ? route.fulfill(answer) : route.continue());
  });
  return { moves, goOn };
}

world.test('quick moves are sent together, and undone together', {}, async (visit) => {
  const { page } = visit;
  const [a, b, c, d, e, f] = await openAlbum(visit, 6);
  const { moves, goOn } = await holdMoves(page);
  await tiles(page).nth(0).getByRole('link').focus();
  for (let step = 0; step < 4; step += 1) await page.keyboard.press('Alt+Shift+ArrowRight');
  await shows(page, [b, c, d, e, a, f]);
  goOn();
  await keeps(page, [b, c, d, e, a, f]);
  assert.deepEqual(moves, [[{ ids: [a], before: c }], [{ ids: [a], before: f }]]);
  await tiles(page).nth(4).getByRole('link').focus();
  for (let step = 0; step < 3; step += 1) await page.keyboard.press('Alt+Shift+ArrowLeft');
  await button(page, 'Undo').click();
  // A move after it is kept, too.
  await tiles(page).nth(5).getByRole('link').focus();
  await page.keyboard.press('Alt+Shift+ArrowLeft');
  await keeps(page, [b, c, d, e, f, a]);
});

world.test('moves are kept when the page is left at once', {}, async (visit) => {
  const { page } = visit;
  const [a, b, c, d] = await openAlbum(visit, 4);
  const album = page.url();
  await tiles(page).nth(0).getByRole('link').focus();
  for (let step = 0; step < 3; step += 1) await page.keyboard.press('Alt+Shift+ArrowRight');
  await page.goto(new URL('/albums', album).href);
  await page.waitForFunction(
    async ([path, last]) => {
      const text = await (await fetch(path)).text();
      const shown = new DOMParser().parseFromString(text, 'text/html').querySelector('ul.rows > li:last-child');
      return shown.dataset.id === last;
    },
    [album, a],
    { timeout: TIMEOUT_MS },
  );
  await page.goto(album);
  assert.deepEqual(await ids(page), [b, c, d, a]);
});

world.test('an undone move is undone also if the page is left before the move is answered', {}, async (visit) => {
  const { page } = visit;
  const all = await openAlbum(visit, 5);
  const album = page.url();
  const inService = async () => [...(await (await visit.context.request.get(album)).text()).matchAll(/<li data-id="([^"]+)"/g)].map(([, id]) => id);
  // The service gets the first move, but the page never gets the answer.
  await page.evaluate(() => {
    const { fetch } = window;
    window.fetch = (...request) => {
      const answer = fetch(...request);
      if (window.answered || !String(request[0]).endsWith('/move')) return answer;
      window.answered = answer.then(() => undefined);
      return new Promise(() => {});
    };
  });
  for (const place of [0, 2]) await tiles(page).nth(place).getByRole('checkbox').check();
  await tiles(page).nth(0).getByRole('link').focus();
  await page.keyboard.press('Alt+Shift+ArrowRight');
  await page.evaluate(() => window.answered);
  assert.notDeepEqual(await inService(), all);
  await button(page, 'Undo').click();
  await shows(page, all);
  await page.goto(new URL('/albums', album).href);
  const end = Date.now() + TIMEOUT_MS;
  while ((await inService()).join() !== all.join()) assert.ok(Date.now() < end, `${await inService()} instead of ${all}`);
});

world.test('after a refused move, the page has the order of the service', {}, async (visit) => {
  const { page } = visit;
  const [a, b, c] = await openAlbum(visit, 3);
  const { moves, goOn } = await holdMoves(page);
  await tiles(page).nth(0).getByRole('link').focus();
  await page.keyboard.press('Alt+Shift+ArrowRight');
  await tiles(page).nth(2).getByRole('link').focus();
  await page.keyboard.press('Alt+Shift+ArrowLeft');
  await shows(page, [b, c, a]);
  goOn({ status: 409, json: { error: 'Not now.' } });
  await page.locator('#message').getByText('Not now.').waitFor();
  assert.deepEqual(await ids(page), [a, b, c]);
  assert.equal(moves.length, 1);
  await visit.watch.takesStatus(409);
});

world.test('a move in an album that changed meanwhile says so', {}, async (visit) => {
  const { page } = visit;
  const all = await openAlbum(visit, 3);
  const other = await visit.context.newPage();
  await other.goto(page.url());
  await other.locator('summary', { hasText: 'Order' }).click();
  await press(other, button(other, 'Show the newest first'));
  await tiles(page).nth(0).getByRole('link').focus();
  await page.keyboard.press('Alt+Shift+ArrowRight');
  await page.locator('#message').getByText('This album is no longer in your own order.').waitFor();
  await shows(page, all);
  await visit.watch.takesStatus(409);
});
