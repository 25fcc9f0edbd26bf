// New photos appear in open pages by themselves. Also tests what all pages have in common: their frame, their keys, their colours.

import assert from 'node:assert/strict';
import { World } from './support/harness.mjs';
import { press, reloadUntil, words } from './support/pages.mjs';
import { movie, photos } from './support/photos.mjs';
import { importPhotos, minute } from './support/places.mjs';
import { choose, isFinished } from './support/upload.mjs';

const world = await World.forTests();
const DESK = { viewport: { width: 1440, height: 900 } };
const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };
/** Enough photos of a month for several screens. */
const MANY = 120;

const tiles = (page) => page.locator('#timeline li');
const day = (month, count, first = 0) => Array.from({ length: count }, (_, age) => ({ at: minute(first + age).replace('2024-07', month) }));

world.test('an empty library becomes the timeline when photos come from another process', DESK, async (visit) => {
  const { page } = visit;
  const person = await world.newAccount();
  await visit.signIn(person, '/');
  assert.match(await words(page), /There are no photos yet/);
  await importPhotos(world.service, person, day('2024-07', 3));
  await tiles(page).nth(2).waitFor();
  assert.equal(await tiles(page).count(), 3);
});

world.test('photos that are uploaded on the start page turn it into the timeline', DESK, async (visit) => {
  const { page } = visit;
  await visit.signIn(await world.newAccount(), '/');
  await choose(page, photos(3));
  await tiles(page).nth(2).waitFor();
});

world.test('the start page stays while it says which file was not uploaded', DESK, async (visit) => {
  const { page, watch } = visit;
  await visit.signIn(await world.newAccount(), '/');
  await choose(page, [...photos(1), movie('walk.mp4')]);
  await isFinished(page);
  const show = page.getByRole('link', { name: 'Show your photos' });
  await show.waitFor();
  assert.equal(await page.locator('#status').textContent(), 'Your photos are in the library.');
  assert.match(await words(page), /walk\.mp4\s+Movies cannot be added, only photos\./);
  await watch.takesStatus(415);
  await press(page, show);
  await tiles(page).first().waitFor();
});

for (const javaScriptEnabled of [true, false]) {
  const name = `an empty library takes example photos and gives them back, with${javaScriptEnabled ? '' : 'out'} JavaScript`;
  world.test(name, { ...DESK, javaScriptEnabled }, async (visit) => {
    const { page } = visit;
    await visit.signIn(await world.newAccount(), '/');
    await press(page, page.getByRole('button', { name: 'Add example photos' }));
    // With the script, the page becomes the timeline by itself, and shows the photos in sight.
    await (javaScriptEnabled ? tiles(page).nth(4).waitFor() : reloadUntil(tiles(page), 11));
    await page.getByRole('link', { name: 'Mountain meadow above Wengen' }).waitFor();
    // Photos that are still being read would stay.
    while ((await (await page.request.get('/web/timeline')).json()).reading);
    const note = page.locator('form.examples');
    assert.match(await note.textContent(), /11 of the photos are examples\./);
    await press(page, note.getByRole('button', { name: 'Remove the examples' }));
    await press(page, page.getByRole('button', { name: 'Move to the trash' }));
    await page.goto('/');
    await page.getByRole('button', { name: 'Add example photos' }).waitFor();
    assert.equal(await tiles(page).count(), 0);
  });
}

world.test('new photos appear where they belong, and what is in sight stays', DESK, async (visit) => {
  const { page } = visit;
  const person = await world.newAccount();
  await importPhotos(world.service, person, day('2024-07', MANY));
  await visit.signIn(person, '/');
  await tiles(page).first().waitFor();
  // At the top of the page, new photos appear in sight.
  const newest = await tiles(page).first().getAttribute('data-id');
  await importPhotos(world.service, person, day('2024-08', 2));
  await page.getByRole('region', { name: 'August 2024' }).locator('li').nth(1).waitFor();
  assert.notEqual(await tiles(page).first().getAttribute('data-id'), newest);
  // Further down, the photos in sight keep their place.
  await page.mouse.wheel(0, 900);
  await page.waitForFunction(() => scrollY >= 900 && location.search);
  const first = () =>
    page.evaluate(() => {
      const tops = [...document.querySelectorAll('#timeline li')].map((item) => [item.dataset.id, item.getBoundingClientRect().top]);
      return tops.filter(([, top]) => top > 60).sort((a, b) => a[1] - b[1])[0];
    });
  const [id, top] = await first();
  const height = () => page.evaluate(() => document.getElementById('timeline').offsetHeight);
  const before = await height();
  await importPhotos(world.service, person, day('2024-09', 30));
  await page.waitForFunction((before) => document.getElementById('timeline').offsetHeight > before, before);
  const now = await page.locator(`#timeline li[data-id="${id}"]`).evaluate((item) => item.getBoundingClientRect().top);
  assert.ok(Math.abs(now - top) <= 1, `${now} instead of ${top}`);
});

world.test('each day has a heading with its places, from the server as from the script', DESK, async (visit) => {
  const { page } = visit;
  const person = await world.newAccount();
  const [lisbon, porto, madrid] = [[38.7223, -9.1393], [41.1496, -8.611], [40.4168, -3.7038]];
  await importPhotos(world.service, person, [
    { at: '2024-07-18T00:30:00+02:00', place: madrid },
    { at: '2024-07-17T23:30:00+02:00', place: madrid },
    { at: '2024-07-16T12:00:00Z', place: porto },
    { at: '2024-07-16T11:00:00Z', place: madrid },
    { at: '2024-07-16T10:00:00Z', place: lisbon },
    { at: '2024-07-15T11:00:00Z', place: lisbon },
    { at: '2024-07-15T10:00:00Z', place: porto },
    { at: '2024-07-15T09:00:00Z', place: lisbon },
  ]);
  await visit.signIn(person, '/');
  await page.locator('#timeline.placed').waitFor();
  const shown = () => page.locator('#timeline .day').allTextContents();
  const rendered = () =>
    page.evaluate(async () => {
      const text = await (await fetch('/')).text();
      const days = new DOMParser().parseFromString(text, 'text/html').querySelectorAll('.day');
      return [...days].map((day) => day.textContent);
    });
  const days = ['Thu 18 July · Madrid', 'Wed 17 July · Madrid', 'Tue 16 July · Porto and 2 more places', 'Mon 15 July · Lisbon and Porto'];
  assert.deepEqual(await shown(), days);
  assert.deepEqual(await rendered(), days);
  // The script writes the days of a month that has changed.
  await importPhotos(world.service, person, [{ at: '2024-07-13T10:00:00Z' }]);
  await tiles(page).nth(8).waitFor();
  assert.deepEqual(await shown(), [...days, 'Sat 13 July']);
  assert.deepEqual(await rendered(), [...days, 'Sat 13 July']);
  // A heading is above its photo, and ends before the next one.
  const boxes = await page.locator('#timeline .day').evaluateAll((days) =>
    days.map((day) => [day, day.parentElement].map((element) => element.getBoundingClientRect().toJSON())));
  for (const [day, photo] of boxes) assert.ok(day.bottom <= photo.top + 1 && day.left === photo.left, JSON.stringify([day, photo]));
  for (const [day] of boxes) for (const [other] of boxes) assert.ok(day === other || day.top !== other.top || day.right <= other.left || other.right <= day.left);
});

/** Evenings at the edges of July, and three photos at the same time of different clocks; the newest first. */
const EVENINGS = [
  '2024-08-01T00:10:00+14:00',
  '2024-07-31T23:30:00+02:00',
  '2024-07-31T22:00:00-04:00',
  '2024-07-15T12:00:00+02:00',
  '2024-07-15T12:00:00Z',
  '2024-07-15T12:00:00-04:00',
  '2024-07-01T00:00:00+14:00',
  '2024-06-30T23:59:00-11:00',
];

world.flow('an evening belongs to the day and the month of its clock', async (visit) => {
  const { page } = visit;
  const person = await world.newAccount();
  await importPhotos(world.service, person, EVENINGS.map((at) => ({ at })));
  await visit.signIn(person, '/');
  const texts = (selector) => page.locator(selector).allTextContents();
  assert.deepEqual(await texts('#timeline h2'), ['August 2024', 'July 2024', 'June 2024']);
  assert.deepEqual(await texts('#timeline .day'), ['Thu 1 August', 'Wed 31 July', 'Mon 15 July', 'Mon 1 July', 'Sun 30 June']);
  const ids = await tiles(page).evaluateAll((items) => items.map(({ dataset }) => dataset.id));
  assert.equal(ids.length, EVENINGS.length);
  // The photo page leads through the timeline, also between photos at the same time.
  await press(page, tiles(page).nth(1).locator('a').first());
  for (const id of ids.slice(1, 7)) {
    await page.locator(`main.photo[data-id="${id}"]`).waitFor();
    await press(page, page.getByRole('link', { name: 'Older' }));
  }
  await page.locator(`main.photo[data-id="${ids[7]}"]`).waitFor();
  for (const id of ids.slice(3, 7).reverse()) {
    await press(page, page.getByRole('link', { name: 'Newer' }));
    await page.locator(`main.photo[data-id="${id}"]`).waitFor();
  }
  await page.goto('/');
  // The link to a month leads to its newest photo.
  const address = await page.locator('nav.months a', { hasText: 'July' }).getAttribute('href');
  const text = await (await page.request.get(address)).text();
  assert.equal(/<li data-id="([^"]*)"/.exec(text)[1], ids[1]);
});

world.test('a month is selected by its clocks, and a photo without those at the same time', DESK, async (visit) => {
  const { page } = visit;
  const person = await world.newAccount();
  await importPhotos(world.service, person, EVENINGS.map((at) => ({ at })));
  await visit.signIn(person, '/');
  await page.locator('#timeline.placed').waitFor();
  const shown = () => tiles(page).evaluateAll((items) => items.map(({ dataset }) => dataset.id));
  const ids = await shown();
  const selected = () => page.locator('#timeline li.selected').evaluateAll((items) => items.map(({ dataset }) => dataset.id));
  const box = (place) => tiles(page).nth(place).locator('input[name="image"]');
  await box(4).click({ force: true });
  assert.deepEqual(await selected(), [ids[4]]);
  await page.keyboard.press('Escape');
  const july = page.getByRole('checkbox', { name: 'Select all of July 2024' });
  await july.click({ force: true });
  assert.deepEqual(await selected(), ids.slice(1, 7));
  await box(4).click({ force: true });
  assert.deepEqual(await selected(), [1, 2, 3, 5, 6].map((place) => ids[place]));
  assert.ok(!(await july.isChecked()));
  const sent = page.waitForRequest('**/web/selection');
  await page.keyboard.press('Delete');
  await page.getByRole('dialog', { name: 'Delete 5 photos?' }).getByText('From 1 July 2024 to 31 July 2024').waitFor();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  assert.equal((await sent).postDataJSON().ranges.length, 2);
  await page.waitForFunction(() => document.querySelectorAll('#timeline li').length === 3);
  assert.deepEqual(await shown(), [0, 4, 7].map((place) => ids[place]));
  await page.locator('#message').getByRole('button', { name: 'Undo' }).click();
  await tiles(page).nth(7).waitFor();
  assert.deepEqual(await shown(), ids);
  await page.keyboard.press('Escape');
  // A range ends at one of the photos at the same time.
  await box(4).click({ force: true });
  await box(6).click({ force: true, modifiers: ['Shift'] });
  assert.deepEqual(await selected(), ids.slice(4, 7));
  await page.keyboard.press('Escape');
  await page.keyboard.press('Control+a');
  await page.locator('#selected strong', { hasText: '8' }).waitFor();
  assert.deepEqual(await selected(), ids);
  // Without one month, those beside it stay.
  await july.click({ force: true });
  await page.locator('#selected strong', { hasText: '2' }).waitFor();
  const checked = await page.locator('.month').evaluateAll((months) => months.map((month) => month.querySelector('.all input').checked));
  assert.deepEqual(checked, [true, false, true]);
  assert.deepEqual(await selected(), [ids[0], ids[7]]);
  await july.click({ force: true });
  await page.locator('#selected strong', { hasText: '8' }).waitFor();
});

world.test('a date and the slider lead to the day of the clocks', DESK, async (visit) => {
  const { page } = visit;
  const person = await world.newAccount();
  const many = (evening) => Array.from({ length: MANY }, (_, age) => ({ at: evening.replace(':00:00', `:${String(59 - (age >> 1)).padStart(2, '0')}:${age % 2 ? '00' : '30'}`) }));
  await importPhotos(world.service, person, [...many('2024-08-15T20:00:00-11:00'), ...many('2024-07-31T22:00:00-04:00'), ...many('2024-06-30T23:00:00-11:00')]);
  await visit.signIn(person, '/');
  await page.locator('#timeline.placed').waitFor();
  const slider = page.getByRole('slider', { name: 'Date' });
  const isAt = (text) => page.waitForFunction((text) => document.querySelector('.scrubber input').getAttribute('aria-valuetext') === text, text);
  await page.keyboard.press('g');
  await page.locator('dialog input').fill('2024-07-31');
  await page.keyboard.press('Enter');
  await isAt('July 2024');
  const july = await page.evaluate(async () => (await (await fetch('/web/month/202407')).json()).id);
  assert.equal(july.length, MANY);
  await page.locator(`#timeline li[data-id="${july[0]}"]`).waitFor();
  const { top } = await page.locator(`#timeline li[data-id="${july[0]}"]`).evaluate((item) => item.getBoundingClientRect().toJSON());
  assert.ok(top > 0 && top < 300, `${top}`);
  await page.keyboard.press('g');
  assert.equal(await page.locator('dialog input').inputValue(), '2024-07-31');
  await page.keyboard.press('Escape');
  await slider.focus();
  await page.keyboard.press('ArrowDown');
  await isAt('June 2024');
  await page.keyboard.press('End');
  await page.locator('#timeline section[aria-label="June 2024"], #timeline section[data-month="202406"]').waitFor();
});

world.test('photos are shown larger and smaller by key, by button and with two fingers, and stay so', { ...DESK, hasTouch: true }, async (visit) => {
  const { page, watch } = visit;
  const person = await world.newAccount();
  await importPhotos(world.service, person, day('2024-07', MANY));
  await visit.signIn(person, '/');
  await page.locator('#timeline.placed').waitFor();
  const height = () => tiles(page).first().evaluate((item) => item.offsetHeight);
  const normal = await height();
  const isNear = (actual, expected) => assert.ok(Math.abs(actual / expected - 1) < 0.15, `${actual} instead of ${expected}`);
  await page.keyboard.press('+');
  isNear(await height(), normal * 1.25);
  await page.reload();
  await page.locator('#timeline.placed').waitFor();
  isNear(await height(), normal * 1.25);
  for (let presses = 0; presses < 9; presses += 1) await page.keyboard.press('-');
  isNear(await height(), normal / 2);
  await page.locator('.menu > summary').click();
  await page.getByRole('button', { name: 'Larger' }).click();
  await page.keyboard.press('Escape');
  isNear(await height(), (normal / 2) * 1.25);
  const touch = (type, ...points) => watch.browser.send('Input.dispatchTouchEvent', { type, touchPoints: points.map(([x, y], id) => ({ x, y, id })) });
  await touch('touchStart', [500, 500]);
  await touch('touchStart', [500, 500], [600, 500]);
  await touch('touchMove', [480, 500], [620, 500]);
  await touch('touchEnd');
  isNear(await height(), (normal / 2) * 1.25 ** 2);
  assert.equal(await page.locator('#timeline.selecting').count(), 0);
});

world.test('selected photos are archived and become favourites, and both are undone', DESK, async (visit) => {
  const { page } = visit;
  const person = await world.newAccount();
  await importPhotos(world.service, person, [...day('2024-07', 2), ...day('2024-06', 3)]);
  await visit.signIn(person, '/');
  await page.locator('#timeline.placed').waitFor();
  const bar = (name) => page.locator('#selected').getByRole('button', { name, exact: true }).click();
  const message = (text) => page.locator('#message', { hasText: text }).waitFor();
  const undo = () => page.locator('#message').getByRole('button', { name: 'Undo' }).click();
  const selectJuly = () => page.getByLabel('Select all of July 2024').check({ force: true });
  const july = page.getByRole('heading', { name: 'July 2024' });

  await selectJuly();
  await bar('Archive');
  await message('2 photos moved to the archive.');
  await july.waitFor({ state: 'detached' });
  await undo();
  await message('2 photos changed back.');
  await july.waitFor();
  await page.locator('#selected', { hasText: '2 selected' }).waitFor();

  await bar('Favourite');
  await message('2 photos added to your favourites.');
  await july.waitFor();
  const favourites = async () => {
    await page.goto('/search?favorite=yes');
    return page.locator('ul.rows li').count();
  };
  await undo();
  await message('2 photos changed back.');
  assert.equal(await favourites(), 0);
});

world.test('the number of selected photos follows a selected month', DESK, async (visit) => {
  const { page } = visit;
  const person = await world.newAccount();
  await importPhotos(world.service, person, day('2024-07', 3));
  await visit.signIn(person, '/');
  await page.locator('.load').first().waitFor({ state: 'attached' });
  await page.getByLabel('Select all of July 2024').evaluate((check) => check.click());
  await page.locator('#selected', { hasText: '3 selected' }).waitFor();
  // The import adds two photos: three of the five are in the library already.
  await importPhotos(world.service, person, day('2024-07', 5));
  await page.locator('#selected', { hasText: '5 selected' }).waitFor();
});

/** Tells the page that this many photos are being read. */
const showReading = (page, count) =>
  page.route('**/web/timeline', async (route) => {
    const answer = await route.fetch();
    await route.fulfill({ json: { ...(await answer.json()), reading: count() } });
  });

world.test('a line shows that photos are being read', DESK, async (visit) => {
  const { page } = visit;
  const person = await world.newAccount();
  let reading = 3;
  await showReading(page, () => reading);
  await visit.signIn(person, '/');
  await page.getByRole('progressbar', { name: '3 photos are being read.' }).waitFor();
  assert.match(await words(page), /3 photos are being read\./);
  assert.equal(await page.locator('#waiting[role="status"]').textContent(), '3 photos are being read.');
  reading = 1;
  await page.getByRole('progressbar', { name: '1 photo is being read.' }).waitFor();
  assert.deepEqual(await page.locator('#reading').evaluate(({ value, max }) => [value, max]), [2, 3]);
  reading = 0;
  await page.locator('#reading').waitFor({ state: 'hidden' });
});

world.test('screen readers learn when reading begins and when it ends', DESK, async (visit) => {
  const { page } = visit;
  const person = await world.newAccount();
  await importPhotos(world.service, person, day('2024-07', 2));
  let reading = 3;
  await showReading(page, () => reading);
  const isAnnounced = (text) => page.locator('#status', { hasText: text }).waitFor({ state: 'attached' });
  await visit.signIn(person, '/');
  await isAnnounced('3 photos are being read.');
  reading = 1;
  await page.getByRole('progressbar', { name: '1 photo is being read.' }).waitFor();
  await isAnnounced('3 photos are being read.');
  reading = 0;
  await isAnnounced('All photos are read.');
});

world.test('a hidden page asks for nothing', DESK, async (visit) => {
  const { page } = visit;
  await page.clock.install();
  const answered = page.waitForResponse('**/web/timeline');
  await visit.signIn(await world.newAccount(), '/');
  await answered;
  let asked = 0;
  page.on('request', (request) => (asked += request.url().endsWith('/web/timeline')));
  const setHidden = (hidden) =>
    page.evaluate((hidden) => {
      Object.defineProperty(document, 'hidden', { value: hidden, configurable: true });
      document.dispatchEvent(new Event('visibilitychange'));
    }, hidden);
  await setHidden(true);
  asked = 0;
  await page.clock.runFor(60_000);
  assert.equal(asked, 0);
  const back = page.waitForRequest('**/web/timeline');
  await setHidden(false);
  await back;
});

world.test('without JavaScript, the page leads to new photos', { ...DESK, javaScriptEnabled: false }, async (visit) => {
  const { page } = visit;
  const person = await world.newAccount();
  await visit.signIn(person, '/');
  await importPhotos(world.service, person, day('2024-07', 1));
  await press(page, page.getByRole('link', { name: 'Show new photos' }));
  assert.equal(await tiles(page).count(), 1);
});

world.test('every page of the library has the same frame and the same keys', DESK, async (visit) => {
  const { page } = visit;
  const person = await world.newAccount();
  await importPhotos(world.service, person, day('2024-07', 2));
  await visit.signIn(person, '/');
  const photo = await tiles(page).first().locator('a').getAttribute('href');
  const brand = async () => (await page.locator('.brand').boundingBox()).x;
  const expected = await brand();
  for (const path of ['/', photo, `${photo}/edit`, '/albums', '/map', '/search', '/search?q=a', '/search?favorite=yes', '/archive', '/trash', '/problems', '/account', '/account/sync']) {
    await page.goto(path);
    // The picture takes the place of the header.
    const isPicture = path === photo;
    if (isPicture) await page.locator('.brand').waitFor({ state: 'hidden' });
    else assert.equal(await brand(), expected, path);
    if (path.startsWith('/account')) continue;
    if (!isPicture) await page.locator('body').click({ position: { x: 5, y: 5 } });
    await page.evaluate(() => document.activeElement.blur());
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keys' }).getByText('Search', { exact: true }).waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('/');
    if (isPicture) await page.waitForURL('**/search');
    else await page.waitForFunction(() => document.activeElement.id === 'q');
  }
});

world.flow('the header searches, and its menu leads to the rest', async (visit) => {
  const { page } = visit;
  await page.setViewportSize(DESK.viewport);
  await visit.signIn(await world.newAccount(), '/albums');
  await page.locator('header').getByRole('searchbox').fill('boats');
  await Promise.all([page.waitForURL(/\/search\?q=boats$/), page.keyboard.press('Enter')]);
  assert.equal(await page.getByRole('searchbox').count(), 1, 'the page has its own search field');
  // With JavaScript, the link to the upload is a button.
  const upload = page.getByRole('link', { name: 'Upload', exact: true });
  if (await upload.count()) {
    await upload.click();
    assert.equal(new URL(page.url()).pathname, '/account/sync');
  } else {
    await Promise.all([page.waitForEvent('filechooser'), page.getByRole('button', { name: 'Upload', exact: true }).click()]);
  }
  await page.locator('.menu > summary').click();
  await page.locator('.menu').getByRole('link', { name: 'Photo sync', exact: true }).click();
  assert.equal(new URL(page.url()).pathname, '/account/sync');
  for (const name of ['Account', 'Trash', 'Problems']) {
    await page.locator('.menu > summary').click();
    await page.locator('.menu').getByRole('link', { name, exact: true }).click();
    assert.equal(new URL(page.url()).pathname, `/${name.toLowerCase()}`);
  }
  await page.locator('.menu > summary').click();
  await press(page, page.locator('.menu').getByRole('button', { name: 'Sign out' }));
  assert.equal(new URL(page.url()).pathname, '/sign-in');
});

world.flow('the theme is chosen in the menu, and stays', async (visit) => {
  const { page } = visit;
  await page.emulateMedia({ colorScheme: 'light' });
  const person = await world.newAccount();
  await importPhotos(world.service, person, day('2024-07', 2));
  await visit.signIn(person, '/?at=1900000000000');
  const choose = async (name) => {
    const button = page.locator('.theme').getByRole('button', { name });
    if (!(await button.isVisible())) await page.locator('.menu > summary').click();
    await button.click();
  };
  const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const hasTheme = (name) => page.locator(`html[data-theme="${name}"]`).waitFor();
  const light = await paper();
  await page.waitForLoadState('networkidle');
  await choose('Dark');
  await hasTheme('dark');
  assert.equal(new URL(page.url()).pathname, '/');
  const dark = await paper();
  assert.notEqual(dark, light);
  assert.equal(await page.locator('.theme [aria-pressed="true"]').textContent(), 'Dark');
  for (const path of ['/', '/account', '/map']) {
    await page.goto(path);
    assert.equal(await paper(), dark, path);
  }
  await page.goto('/account');
  await choose('Light');
  await hasTheme('light');
  await page.emulateMedia({ colorScheme: 'dark' });
  assert.equal(await paper(), light);
  await choose('System');
  await page.locator('html:not([data-theme])').waitFor();
  assert.equal(await paper(), dark);
});

world.test('the theme changes without a new page, also in other tabs and on pages that Back shows again', DESK, async (visit) => {
  const { page } = visit;
  await visit.signIn(await world.newAccount(), '/account/keys');
  await page.evaluate(() => { window.isSame = true; });
  const choose = async (on, name) => {
    await on.locator('.menu > summary').click();
    await on.locator('.theme').getByRole('button', { name }).click();
  };
  const other = await page.context().newPage();
  await other.goto('/albums');
  await choose(other, 'Dark');
  await page.locator('html[data-theme="dark"]').waitFor();
  assert.equal(await page.locator('.theme [aria-pressed="true"]').textContent(), 'Dark');
  await choose(page, 'Light');
  await page.locator('html[data-theme="light"]').waitFor();
  await other.locator('html[data-theme="light"]').waitFor();
  assert.ok(await page.evaluate(() => window.isSame));
  await other.goto('/map');
  await choose(other, 'System');
  await other.locator('html:not([data-theme])').waitFor();
  await other.goBack();
  await other.locator('html:not([data-theme])').waitFor();
  await other.close();
});

world.test('without a connection, the theme stays and a message says why', DESK, async (visit) => {
  const { page, watch } = visit;
  await visit.signIn(await world.newAccount(), '/albums');
  await page.waitForLoadState('networkidle');
  await page.route('**/theme', (route) => route.abort());
  await page.locator('.menu > summary').click();
  await page.locator('.theme').getByRole('button', { name: 'Dark' }).click();
  await page.locator('#message', { hasText: 'does not respond' }).waitFor();
  assert.equal(await page.locator('.theme [aria-pressed="true"]').textContent(), 'System');
  await watch.takes(/^console: Failed to load resource/);
  await page.unroute('**/theme');
  await page.locator('.theme').getByRole('button', { name: 'Dark' }).click();
  await page.locator('html[data-theme="dark"]').waitFor();
});

for (const path of ['/', '/account']) {
  world.test(`the menu closes by Escape and by a click outside: ${path}`, DESK, async (visit) => {
    const { page } = visit;
    const person = await world.newAccount();
    await importPhotos(world.service, person, day('2024-07', 2));
    await visit.signIn(person, path);
    const menu = page.locator('.menu');
    const summary = menu.locator('summary');
    const account = menu.getByRole('link', { name: 'Account' });
    await page.waitForLoadState('networkidle');
    await summary.click();
    await account.waitFor();
    await account.focus();
    await page.keyboard.press('Escape');
    await account.waitFor({ state: 'hidden' });
    await page.waitForFunction(() => document.activeElement.localName === 'summary');
    await summary.click();
    await account.waitFor();
    await page.locator('main').click({ position: { x: 5, y: 5 } });
    await account.waitFor({ state: 'hidden' });
    await summary.click();
    await account.waitFor();
    await page.keyboard.press('Shift+Tab');
    await account.waitFor({ state: 'hidden' });
  });
}

world.test('a phone has the parts of the library at the bottom of its window', PHONE, async (visit) => {
  const { page } = visit;
  const person = await world.newAccount();
  await importPhotos(world.service, person, day('2024-07', MANY));
  await visit.signIn(person, '/');
  await tiles(page).first().waitFor();
  const parts = ['Photos', 'Search', 'Albums', 'Map'];
  for (const name of parts) {
    const link = page.getByRole('link', { name, exact: true });
    const { y, width, height } = await link.boundingBox();
    assert.ok(width >= 44 && height >= 44 && y + height <= PHONE.viewport.height, `${name}: ${y}, ${width} by ${height}`);
  }
  // The header stays, and what can be done with selected photos takes the place of the bar.
  await page.evaluate(() => scrollBy({ top: 900, behavior: 'instant' }));
  assert.equal((await page.locator('header').boundingBox()).y, 0);
  await tiles(page).last().locator('input[name="image"]').evaluate((box) => box.click());
  await page.locator('#selected').waitFor();
  assert.ok(await page.locator('.dock nav').isHidden());
  await page.getByRole('button', { name: 'Clear the selection' }).click();
  await page.locator('.dock nav').waitFor();
  for (const name of ['Favourites', 'Archive', 'Trash']) {
    await page.locator('.menu > summary').click();
    await page.locator('.menu').getByRole('link', { name, exact: true }).click();
    await page.getByRole('heading', { name, level: 1, includeHidden: true }).waitFor({ state: 'attached' });
  }
  for (const name of parts.slice(1)) {
    await page.getByRole('link', { name, exact: true }).click();
    assert.equal(new URL(page.url()).pathname, `/${name.toLowerCase()}`);
    assert.equal(await page.locator('.dock [aria-current="page"]').innerText(), name);
  }
});

world.test('in a low window, the menu leads to every part of the library', PHONE, async (visit) => {
  const { page } = visit;
  await page.setViewportSize({ width: 320, height: 256 });
  await visit.signIn(await world.newAccount(), '/albums');
  assert.ok(await page.locator('.dock').isHidden());
  for (const name of ['Photos', 'Search', 'Albums', 'Map', 'Favourites', 'Archive', 'Trash', 'Problems']) {
    await page.locator('.menu > summary').click();
    await page.locator('.menu').getByRole('link', { name, exact: true }).click();
    await page.getByRole('heading', { name, level: 1, includeHidden: true }).waitFor({ state: 'attached' });
    assert.equal(await page.locator('.menu [aria-current="page"]').textContent(), name);
  }
});

/** The contrast between the text of a control and its background. */
const contrastOf = (control) =>
  control.evaluate((element) => {
    const channels = (colour) => colour.match(/[\d.]+/g).map(Number);
    const luminance = (colour) => {
      const [red, green, blue] = channels(colour).map((value) => {
        const share = value / 255;
        return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
      });
      return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    };
    let behind = element;
    const background = (of) => getComputedStyle(of).backgroundColor;
    while ((channels(background(behind))[3] ?? 1) === 0) behind = behind.parentElement;
    const [light, dark] = [luminance(getComputedStyle(element).color), luminance(background(behind))].sort((a, b) => b - a);
    return (light + 0.05) / (dark + 0.05);
  });

for (const colorScheme of ['light', 'dark']) {
  world.test(`every button can be read, also with the focus: ${colorScheme}`, { ...DESK, colorScheme, reducedMotion: 'reduce' }, async (visit) => {
    const { page } = visit;
    const person = await world.newAccount();
    await importPhotos(world.service, person, [...day('2024-07', 2), ...day('2023-07', 2)]);
    await visit.signIn(person, '/');
    await page.locator('.load').first().waitFor({ state: 'attached' });
    await tiles(page).first().hover();
    await tiles(page).first().locator('input[name="image"]').check();
    const checkAll = async () => {
      for (const button of await page.locator('button:not([hidden], .unseen), button:not([hidden]) span').all()) {
        const text = (await button.innerText()).trim();
        if (!text) continue;
        await button.focus();
        const contrast = await contrastOf(button);
        assert.ok(contrast >= 4.5, `${text}: ${contrast}`);
      }
    };
    await checkAll();
    await page.getByRole('button', { name: 'Add to album' }).last().click();
    const dialog = page.getByRole('dialog', { name: 'Add to album' });
    await dialog.getByLabel('Title of the new album').fill('Boats');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await page.getByText('added to “Boats”').first().waitFor();
    await tiles(page).first().hover();
    await tiles(page).first().locator('input[name="image"]').check();
    await page.locator('#selected').getByRole('button', { name: 'Add to album' }).click();
    await dialog.getByRole('button', { name: /Boats/ }).waitFor();
    await checkAll();
  });
}

world.test('an album is found among many by its name', DESK, async (visit) => {
  const { page } = visit;
  const person = await world.newAccount();
  await importPhotos(world.service, person, day('2024-07', 1));
  await visit.signIn(person, '/albums');
  for (let number = 0; number < 12; number += 1) {
    await page.goto('/albums');
    const title = page.locator('#new-title');
    if (!(await title.isVisible())) await page.locator('summary', { hasText: 'New album' }).click();
    await title.fill(`Album ${number}`);
    await press(page, page.getByRole('button', { name: 'Create' }));
  }
  await page.goto('/');
  await tiles(page).first().hover();
  await tiles(page).first().locator('input[name="image"]').check();
  await page.locator('#selected').getByRole('button', { name: 'Add to album' }).click();
  const dialog = page.getByRole('dialog', { name: 'Add to album' });
  await dialog.getByRole('button', { name: /Album 0/ }).waitFor();
  await dialog.getByLabel('Find an album').fill('ALBUM 11');
  assert.deepEqual(await dialog.locator('li:visible').allInnerTexts().then((texts) => texts.map((text) => text.split('\n')[0])), ['Album 11']);
});

world.test('albums are found while a title is typed', DESK, async (visit) => {
  const { page } = visit;
  await visit.signIn(await world.newAccount(), '/albums');
  const titles = ['São Paulo', 'Straße', ...Array.from({ length: 8 }, (_, number) => `Album ${number}`)];
  for (const title of titles) {
    await page.goto('/albums');
    if (!(await page.locator('#new-title').isVisible())) await page.locator('summary', { hasText: 'New album' }).click();
    await page.locator('#new-title').fill(title);
    await press(page, page.getByRole('button', { name: 'Create' }));
  }
  await page.goto('/albums?q=album');
  const shown = () => page.locator('.covers .name:visible').allInnerTexts();
  assert.equal((await shown()).length, 8);
  const field = page.getByLabel('Find an album');
  for (const [text, expected] of [['sao p', ['São Paulo']], ['STRASSE', ['Straße']], ['nothing', []]]) {
    await field.fill(text);
    assert.deepEqual(await shown(), expected);
    assert.equal(await page.getByText('No album has this text').isVisible(), !expected.length);
  }
  await field.fill('');
  assert.equal((await shown()).length, titles.length);
  await field.fill('album 3');
  await page.locator('#status', { hasText: '1 album' }).waitFor({ state: 'attached' });
  await page.locator('.covers a:visible').click();
  await page.locator('h1', { hasText: 'Album 3' }).waitFor();
  await page.goBack();
  assert.deepEqual(await shown(), ['Album 3']);
});

world.test('photos are picked for an album, also as a range and over several pages', DESK, async (visit) => {
  const { page } = visit;
  const person = await world.newAccount();
  await importPhotos(world.service, person, day('2024-07', 125));
  await visit.signIn(person, '/albums');
  await page.getByLabel('Title').fill('Boats');
  await press(page, page.getByRole('button', { name: 'Create' }));
  await page.getByRole('link', { name: 'Add photos' }).click();
  const add = page.locator('#add-picked');
  const list = page.locator('ul.rows > li');
  await list.first().waitFor();
  assert.ok(!(await add.isVisible()));
  // The whole photo picks, not only its check box.
  await list.nth(1).locator('img').click();
  await add.getByText('Add 1 photo to “Boats”').waitFor();
  await list.nth(4).locator('img').click({ modifiers: ['Shift'] });
  await add.getByText('Add 4 photos to “Boats”').waitFor();
  await list.nth(2).locator('input[name="image"]').focus();
  await page.keyboard.press('Space');
  await add.getByText('Add 3 photos to “Boats”').waitFor();
  await press(page, page.getByRole('button', { name: 'Older photos' }));
  await add.getByText('Add 3 photos to “Boats”').waitFor();
  await list.first().locator('img').click();
  await press(page, add.getByText('Add 4 photos to “Boats”'));
  assert.match(new URL(page.url()).pathname, /^\/albums\/[a-z0-9]+$/);
  assert.equal(await list.count(), 4);
  // The cover is one photo.
  const cover = page.getByRole('button', { name: 'Use as the cover' });
  await list.nth(3).locator('input[name="image"]').check();
  await cover.waitFor();
  await list.nth(2).locator('input[name="image"]').check();
  await cover.waitFor({ state: 'hidden' });
});

world.test('a photo that cannot be read is dismissed, with words for people', DESK, async (visit) => {
  const { page } = visit;
  await visit.signIn(await world.newAccount(), '/account/sync');
  const broken = Buffer.concat([Buffer.from([0xff, 0xd8, 0xff, 0xe0]), Buffer.alloc(100)]);
  const files = ['one.jpg', 'two.jpg', 'three.jpg'].map((name, place) => ({ name, mimeType: 'image/jpeg', buffer: Buffer.concat([broken, Buffer.alloc(place)]) }));
  await choose(page, files);
  await isFinished(page);
  const entries = page.locator('.entries li');
  await visit.open('/problems');
  await reloadUntil(entries, files.length);
  assert.doesNotMatch(await words(page), /decod|JFIF|marker|Huffman|premature/i);
  await press(page, page.getByRole('button', { name: 'Dismiss: two.jpg' }));
  assert.equal(await entries.count(), 2);
  assert.doesNotMatch(await words(page), /two\.jpg/);
  // The photo stays dismissed when the others fail again for the same reason.
  await press(page, page.getByRole('button', { name: 'Try all again' }));
  await reloadUntil(entries, 2);
  assert.doesNotMatch(await words(page), /two\.jpg/);
  await press(page, page.getByRole('button', { name: 'Dismiss all' }));
  assert.match(await words(page), /There are no problems\./);
});

world.test('a photo that cannot be read says what helps, and is deleted', DESK, async (visit) => {
  const { page } = visit;
  await visit.signIn(await world.newAccount(), '/account/sync');
  const buffer = Buffer.concat([Buffer.from([0xff, 0xd8, 0xff, 0xe0]), Buffer.alloc(100)]);
  await choose(page, [{ name: 'boat.jpg', mimeType: 'image/jpeg', buffer }]);
  await isFinished(page);
  await visit.open('/problems');
  await reloadUntil(page.locator('.entries li'), 1);
  assert.match(await words(page), /Upload the original|Open it in another program/);
  const technical = page.locator('.unread code');
  assert.ok(!(await technical.isVisible()));
  await page.getByText('Technical details').click();
  await technical.waitFor();
  await page.locator('summary', { hasText: 'Delete' }).click();
  await press(page, page.getByRole('button', { name: 'Move to the trash' }));
  assert.match(await words(page), /There are no problems\./);
  await visit.open('/trash');
  assert.match(await words(page), /boat\.jpg/);
});
