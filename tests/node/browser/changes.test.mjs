// New photos appear in open pages by themselves. Also tests what all pages have in common: their frame, their keys, their colours.

import assert from 'node:assert/strict';
import { World } from './support/harness.mjs';
import { press, reloadUntil, words } from './support/pages.mjs';
import { importPhotos, minute } from './support/places.mjs';
import { choose, isFinished } from './support/upload.mjs';

const world = await World.forTests();
const DESK = { viewport: { width: 1440, height: 900 } };
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

world.test('new photos appear where they belong, and what is in sight stays', DESK, async (visit) => {
  const { page } = visit;
  const person = await world.newAccount();
  await importPhotos(world.service, person, day('2024-07', MANY));
  await visit.signIn(person, '/');
  await tiles(page).first().waitFor();
  // At the top of the page, new photos appear in sight.
  const newest = await tiles(page).first().getAttribute('data-id');
  await importPhotos(world.service, person, day('2024-08', 2));
  await page.getByRole('heading', { name: 'August 2024' }).waitFor();
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
  for (const path of ['/', photo, `${photo}/edit`, '/albums', '/map', '/search', '/search?q=a', '/trash', '/problems', '/account', '/account/sync']) {
    await page.goto(path);
    assert.equal(await brand(), expected, path);
    if (path.startsWith('/account')) continue;
    await page.locator('body').click({ position: { x: 5, y: 5 } });
    await page.evaluate(() => document.activeElement.blur());
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keys' }).getByText('Search', { exact: true }).waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('/');
    await page.waitForFunction(() => document.activeElement.id === 'q');
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
    await tiles(page).first().getByRole('checkbox').check();
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
    await tiles(page).first().getByRole('checkbox').check();
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
  await tiles(page).first().getByRole('checkbox').check();
  await page.locator('#selected').getByRole('button', { name: 'Add to album' }).click();
  const dialog = page.getByRole('dialog', { name: 'Add to album' });
  await dialog.getByRole('button', { name: /Album 0/ }).waitFor();
  await dialog.getByLabel('Find an album').fill('ALBUM 11');
  assert.deepEqual(await dialog.locator('li:visible').allInnerTexts().then((texts) => texts.map((text) => text.split('\n')[0])), ['Album 11']);
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
