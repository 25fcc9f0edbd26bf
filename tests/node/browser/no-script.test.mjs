// The library without JavaScript: everything that its pages can do.

import assert from 'node:assert/strict';
import { World } from './support/harness.mjs';
import { press, words } from './support/pages.mjs';
import { importPhotos, importPlaces, minute } from './support/places.mjs';

const world = await World.forTests();
const LISBON = [38.7223, -9.1393];
const PARIS = [48.8566, 2.3522];

/** Adds a test without JavaScript, of a new person with these photos, who is signed in. */
function test(name, photos, body) {
  world.test(name, { javaScriptEnabled: false, viewport: { width: 1280, height: 900 } }, async (visit) => {
    const person = await world.newAccount();
    if (photos.length) await importPhotos(world.service, person, photos);
    await visit.signIn(person, '/');
    await body(visit);
  });
}

/** This many photos of a day, each a minute older than the one before. */
const day = (count) => Array.from({ length: count }, (_, age) => ({ at: minute(count - age) }));

const tiles = (page) => page.locator('ul.rows > li');
const ids = (page) => tiles(page).evaluateAll((items) => items.map((item) => item.dataset.id));
const path = (page) => new URL(page.url()).pathname;
const shownId = (page) => path(page).split('/')[2];
const link = (page, name) => page.getByRole('link', { name, exact: true });
const button = (page, name) => page.getByRole('main').getByRole('button', { name, exact: true });

/** Clicks a link and waits for its page. */
const follow = (page, name) => press(page, link(page, name));

/** Opens the details with this summary. */
const open = (page, name) => page.locator('summary', { hasText: name }).click();

/** Selects photos of a grid by their positions. */
async function select(page, ...positions) {
  for (const position of positions) await tiles(page).nth(position).getByRole('checkbox').check();
}

/** Opens the photo at a position of the grid. */
const openPhoto = (page, position) => press(page, tiles(page).nth(position).locator('a'));

test('the timeline is browsed by pages, by months and photo by photo', [
  ...day(64),
  { at: '2023-03-05T10:00:00Z' },
  { at: '2023-03-04T10:00:00Z' },
], async ({ page }) => {
  const first = await ids(page);
  assert.equal(first.length, 60);
  await follow(page, 'Older photos');
  const rest = await ids(page);
  assert.equal(rest.length, 6);
  assert.deepEqual(rest.filter((id) => first.includes(id)), []);
  await follow(page, 'Newer photos');
  assert.deepEqual(await ids(page), first);
  await follow(page, 'March');
  assert.deepEqual(await ids(page), rest.slice(-2));
  assert.equal(await page.locator('.month h2').first().innerText(), 'March 2023');

  await openPhoto(page, 0);
  assert.equal(shownId(page), rest.at(-2));
  await follow(page, 'Older');
  assert.equal(shownId(page), rest.at(-1));
  assert.equal(await link(page, 'Older').count(), 0, 'it is the oldest');
  await follow(page, 'Newer');
  await follow(page, 'Newer');
  assert.equal(shownId(page), rest.at(-3));
  await follow(page, 'Back to the timeline');
  assert.equal((await ids(page))[0], rest.at(-3));
  await openPhoto(page, 0);
  const image = await page.locator('#viewer a').getAttribute('href');
  const answer = await page.context().request.get(image);
  assert.match(answer.headers()['content-type'], /^image\//);
});

test('the facts of a photo are beside it on wide windows and below it on others', day(1), async ({ page }) => {
  await openPhoto(page, 0);
  const boxes = async (width, height) => {
    await page.setViewportSize({ width, height });
    return Promise.all([page.locator('#viewer').boundingBox(), page.locator('.about').boundingBox()]);
  };
  for (const [width, height] of [[900, 600], [1280, 900], [1920, 1080]]) {
    const [picture, facts] = await boxes(width, height);
    assert.ok(picture.x + picture.width <= facts.x + 1 && facts.x + facts.width === width, `at ${width} px`);
    assert.ok(Math.abs(picture.y + picture.height - height) <= 1, `the picture fills the height of ${height} px`);
    assert.ok(picture.width >= width / 2);
  }
  for (const [width, height] of [[320, 256], [360, 800], [820, 1180], [1280, 320]]) {
    const [picture, facts] = await boxes(width, height);
    assert.ok(picture.y + picture.height <= facts.y + 1 && picture.width === width, `at ${width} × ${height} px`);
    assert.ok(picture.height < height, 'the picture fits into the window');
  }
});

test('description, time and place are corrected and undone', [{ at: minute(1), place: PARIS }], async ({ page, watch }) => {
  const facts = () => page.getByRole('region', { name: 'About this photo' }).innerText();
  const correct = async (fill) => {
    await follow(page, 'Edit');
    await fill();
    await press(page, button(page, 'Save'));
    assert.match(await words(page), /The photo is corrected\./);
  };
  await openPhoto(page, 0);
  const before = await facts();
  await correct(() => page.getByLabel('Description').fill('A harbour'));
  assert.match(await facts(), /A harbour/);
  // Undoes the whole correction.
  await press(page, button(page, 'Undo the correction'));
  assert.equal(await facts(), before);

  await correct(() => page.getByLabel('Description').fill('A harbour'));
  await correct(async () => {
    await page.getByRole('radio', { name: 'Shift the time' }).check();
    await page.getByRole('radio', { name: 'Later' }).check();
    await page.getByLabel('Hours').fill('2');
  });
  assert.match(await facts(), /14 July 2024, 02:01:00/);
  await correct(async () => {
    await page.getByRole('radio', { name: 'A city' }).check();
    await page.getByLabel('Name of the city').fill('lisb');
    await press(page, button(page, 'Find cities'));
    await page.getByRole('radio', { name: 'Lisbon, Portugal' }).check();
  });
  assert.match(await facts(), /Lisbon, Portugal/);
  // Undoes each field by itself.
  for (const field of ['the place', 'the time', 'the description']) await press(page, button(page, `Undo ${field}`));
  assert.equal(await facts(), before);

  // A wrong value is shown again with a reason.
  await follow(page, 'Edit');
  await page.getByRole('radio', { name: 'Coordinates' }).check();
  await page.getByLabel('Latitude').fill('91');
  await press(page, button(page, 'Save'));
  await watch.takesStatus(400);
  assert.match(await words(page), /Latitude must lie between -90 and 90/);
  assert.equal(await page.getByLabel('Latitude').inputValue(), '91');
});

test('photos are marked, archived and brought back', day(3), async ({ page }) => {
  const all = await ids(page);
  await openPhoto(page, 0);
  await press(page, button(page, 'Favourite'));
  assert.match(await words(page), /Added to your favourites\./);
  await press(page, button(page, '3 stars'));
  await page.getByLabel('Keywords to add').fill('Sea, Pier');
  await press(page, button(page, 'Add keywords'));
  await press(page, button(page, 'Remove the keyword Sea'));
  await press(page, button(page, 'Undo the change'));
  await follow(page, 'Sea');
  assert.deepEqual(await ids(page), [all[0]]);
  await follow(page, 'Favourites');
  assert.deepEqual(await ids(page), [all[0]]);

  await follow(page, 'Photos');
  await select(page, 0, 1);
  await press(page, button(page, 'Archive'));
  assert.match(await words(page), /2 photos moved to the archive\./);
  await follow(page, 'Back to the photos');
  assert.deepEqual(await ids(page), [all[2]]);
  await follow(page, 'Archive');
  assert.deepEqual(await ids(page), all.slice(0, 2));
  await select(page, 0);
  await press(page, button(page, 'Unarchive'));
  await press(page, button(page, 'Undo'));
  await follow(page, 'Archive');
  assert.deepEqual(await ids(page), all.slice(0, 2));
});

test('selected photos are corrected together', day(3), async ({ page }) => {
  await select(page, 0, 2);
  await press(page, button(page, 'Edit'));
  assert.match(await words(page), /You selected 2 photos/);
  await page.getByRole('radio', { name: 'Shift the time' }).check();
  await page.getByRole('radio', { name: 'Earlier' }).check();
  await page.getByLabel('Days').fill('40');
  await press(page, button(page, 'Correct 2 photos'));
  assert.match(await words(page), /2 photos are corrected\./);
  await follow(page, 'Back to the photos');
  assert.deepEqual(await page.locator('.month h2').allInnerTexts(), ['July 2024', 'June 2024']);
  await page.goBack();
  await press(page, button(page, 'Undo'));
  assert.match(await words(page), /The change of 2 photos is undone\./);
  await follow(page, 'Back to the photos');
  assert.deepEqual(await page.locator('.month h2').allInnerTexts(), ['July 2024']);
});

test('an album is created, filled, ordered, renamed and deleted', day(4), async (visit) => {
  const { page } = visit;
  const all = await ids(page);
  await follow(page, 'Albums');
  await page.getByLabel('Title').fill('Walks');
  await press(page, button(page, 'Create'));
  const album = path(page);
  assert.match(await words(page), /This album has no photos/);

  // Adds photos from the timeline, from the page of a photo, and to a new album in one step.
  await follow(page, 'Photos');
  await select(page, 0, 1);
  await press(page, button(page, 'Add to album'));
  await page.getByLabel('Album', { exact: true }).selectOption({ label: 'Walks' });
  await press(page, button(page, 'Add to album'));
  assert.equal(path(page), '/');
  await openPhoto(page, 2);
  await open(page, 'Add to an album');
  await page.getByLabel('Album', { exact: true }).selectOption({ label: 'Walks' });
  await press(page, button(page, 'Add'));
  assert.equal(shownId(page), all[2]);
  await follow(page, 'Walks');
  assert.equal(path(page), album);
  assert.deepEqual(await ids(page), all.slice(0, 3));

  // The pages of its photos follow the order of the album.
  await open(page, 'Order');
  await press(page, button(page, 'Show the oldest first'));
  assert.deepEqual(await ids(page), all.slice(0, 3).reverse());
  await openPhoto(page, 0);
  await follow(page, 'Newer');
  assert.equal(shownId(page), all[1]);
  await follow(page, 'Newer');
  assert.equal(await page.locator('[rel="next"]').count(), 0);
  await follow(page, 'Back to the album');

  await select(page, 0);
  await press(page, button(page, 'Use as the cover'));
  await follow(page, 'Albums');
  const cover = page.locator('ul.albums img');
  assert.ok((await cover.getAttribute('src')).includes(all[2]));
  await visit.open(album);
  await press(page, button(page, 'Use the newest photo as the cover'));
  await follow(page, 'Albums');
  assert.ok((await cover.getAttribute('src')).includes(all[0]));

  await visit.open(album);
  await select(page, 0);
  await press(page, button(page, 'Remove from album'));
  assert.deepEqual(await ids(page), [all[1], all[0]]);
  await open(page, 'Rename');
  await page.getByLabel('Title').fill('Long walks');
  await press(page, button(page, 'Rename'));
  assert.equal(await page.locator('h1').innerText(), 'Long walks');
  await follow(page, 'Delete album');
  await press(page, button(page, 'Delete album'));
  assert.equal(path(page), '/albums');
  assert.match(await words(page), /There are no albums yet/);
  await follow(page, 'Photos');
  assert.deepEqual(await ids(page), all, 'its photos stay');
});

test('photos of several pages are picked for an album, and an album is found by its title', day(130), async (visit) => {
  const { page } = visit;
  const newest = await ids(page);
  await follow(page, 'Albums');
  await page.getByLabel('Title').fill('Walks');
  await press(page, button(page, 'Create'));
  const album = path(page);
  await follow(page, 'Add photos');
  assert.equal(await tiles(page).count(), 120);
  await select(page, 0, 2);
  await press(page, button(page, 'Older photos'));
  assert.equal(await tiles(page).count(), 10);
  await select(page, 9);
  await press(page, button(page, 'Newer photos'));
  assert.match(await words(page), /1 photo picked on other pages/);
  assert.ok(await tiles(page).nth(2).getByRole('checkbox').isChecked());
  await press(page, button(page, 'Add to “Walks”'));
  assert.equal(path(page), album);
  assert.deepEqual((await ids(page)).slice(0, 2), [newest[0], newest[2]]);
  assert.match(await words(page), /3 photos/);
  await follow(page, 'Add photos');
  assert.equal(await page.getByText('In the album', { exact: true }).count(), 2);
  assert.equal(await page.getByRole('checkbox').count(), 118);
  await follow(page, 'Back to the album');

  for (let number = 0; number < 8; number += 1) {
    await follow(page, 'Albums');
    await open(page, 'New album');
    await page.getByLabel('Title').fill(`Été ${number}`);
    await press(page, button(page, 'Create'));
  }
  await follow(page, 'Albums');
  await page.getByLabel('Find an album').fill('ete 7');
  await page.getByLabel('Order').selectOption('Title');
  await press(page, button(page, 'Show'));
  assert.deepEqual(await page.locator('.covers .name:visible').allInnerTexts(), ['Été 7']);
});

test('a photo that was opened in an album stays there through every form', day(5), async ({ page, watch }) => {
  const all = await ids(page);
  await select(page, 0, 2, 4);
  await page.getByLabel('Album', { exact: true }).fill('Even');
  await press(page, button(page, 'Add to album'));
  await follow(page, 'Albums');
  await press(page, page.locator('ul.albums a'));
  const album = path(page);
  const isInAlbum = async () => {
    const links = await page.locator('[rel="prev"], [rel="next"]').evaluateAll((links) => links.map((link) => link.href));
    const shown = links.map((href) => new URL(href)).map(({ pathname, searchParams }) => [pathname.split('/')[2], searchParams.get('in')]);
    assert.deepEqual(shown, [all[0], all[4]].map((id) => [id, album.split('/')[2]]));
    assert.equal(await page.locator('.back').getAttribute('href'), album);
  };
  await openPhoto(page, 1);
  await isInAlbum();
  await follow(page, 'Edit');
  await follow(page, 'Cancel');
  await isInAlbum();
  await follow(page, 'Edit');
  await page.getByRole('radio', { name: 'Coordinates' }).check();
  await press(page, button(page, 'Save'));
  await watch.takesStatus(400);
  await page.getByRole('radio', { name: 'Leave the place as it is' }).check();
  await page.getByLabel('Description').fill('A harbour');
  await press(page, button(page, 'Save'));
  await isInAlbum();
  await press(page, button(page, 'Undo the correction'));
  await isInAlbum();
  for (const text of [/This photo is the cover of the album now/, /The newest photo is the cover of the album now/]) {
    await press(page, button(page, 'Use as the cover'));
    assert.match(await words(page), text);
    await isInAlbum();
  }
  await open(page, 'Add to an album');
  await page.getByLabel('New album').fill('Harbours');
  await press(page, button(page, 'Create'));
  await isInAlbum();
  await press(page, button(page, 'Remove from the album Harbours'));
  await isInAlbum();
  await open(page, 'Delete');
  await press(page, button(page, 'Move to the trash'));
  assert.equal(path(page), album);
  assert.deepEqual(await ids(page), [all[0], all[4]]);
});

test('photos are searched by words, days and a city', [
  { at: minute(2), place: LISBON },
  { at: minute(1), place: PARIS },
  { at: '2023-03-05T10:00:00Z', place: LISBON },
], async ({ page }) => {
  const [newest, , oldest] = await ids(page);
  await follow(page, 'Explore');
  await page.getByLabel('Search your photos').fill('Lisbon 2023');
  await page.keyboard.press('Enter');
  await page.waitForURL(/q=Lisbon/);
  assert.deepEqual(await ids(page), [oldest]);
  await follow(page, 'Explore');
  await page.getByLabel('Search your photos').fill('Lisbon');
  await page.keyboard.press('Enter');
  await page.waitForURL(/q=Lisbon/);
  assert.deepEqual(await ids(page), [newest, oldest]);
  await openPhoto(page, 0);
  await follow(page, 'Back to the search');
  assert.deepEqual(await ids(page), [newest, oldest]);
  await select(page, 0);
  await press(page, button(page, 'Delete'));
  await press(page, button(page, 'Move to the trash'));
  assert.equal(path(page), '/search');
  assert.deepEqual(await ids(page), [oldest]);
});

test('the map leads from all photos to one', [], async (visit) => {
  const { page } = visit;
  const person = await world.newAccount();
  await importPlaces(world.service, person, [LISBON, LISBON, PARIS]);
  await visit.context.clearCookies();
  await visit.signIn(person, '/map');
  const zoom = () => Number(new URL(page.url()).searchParams.get('z'));
  await follow(page, 'Zoom in');
  const first = zoom();
  await follow(page, 'Zoom in');
  assert.equal(zoom(), first + 1);
  await follow(page, 'Zoom out');
  assert.equal(zoom(), first);
  await follow(page, 'Move east');
  await follow(page, 'All photos');
  const ofLisbon = page.locator('#clusters').getByRole('link', { name: /^2 photos near Lisbon/ });
  while ((await ofLisbon.count()) && !new URL(page.url()).searchParams.has('bbox')) await press(page, ofLisbon);
  assert.match(await words(page), /Photos of this place/);
  assert.equal((await ids(page)).length, 2);
  await openPhoto(page, 0);
  await follow(page, 'Back to the map');
  assert.match(await words(page), /Photos of this place/);
  await openPhoto(page, 0);
  await follow(page, 'Show on the map');
  assert.equal(zoom(), 9);
  await ofLisbon.waitFor();
});

test('photos are deleted, restored and deleted for good', day(4), async ({ page }) => {
  const all = await ids(page);
  await openPhoto(page, 0);
  await open(page, 'Delete');
  await press(page, button(page, 'Move to the trash'));
  assert.deepEqual(await ids(page), all.slice(1));
  await page.getByLabel('Select all of July 2024').check();
  await press(page, button(page, 'Delete'));
  assert.match(await words(page), /3 photos, taken on 14 July 2024/);
  await press(page, button(page, 'Move to the trash'));
  assert.match(await words(page), /There are no photos/);

  await open(page, 'Account menu');
  await follow(page, 'Trash');
  assert.equal((await ids(page)).length, 4);
  const kept = await tiles(page).nth(1).getAttribute('data-id');
  await select(page, 1);
  await press(page, button(page, 'Restore'));
  await select(page, 0);
  await press(page, button(page, 'Delete for good'));
  await press(page, button(page, 'Delete for good'));
  assert.equal((await ids(page)).length, 2);
  await follow(page, 'Empty the trash');
  await press(page, button(page, 'Empty the trash'));
  assert.match(await words(page), /The trash is empty/);
  await follow(page, 'Photos');
  assert.deepEqual(await ids(page), [kept]);
});

test('photos that cannot be read are listed and tried again', [], async (visit) => {
  const { page } = visit;
  await visit.open('/account/sync');
  const buffer = Buffer.concat([Buffer.from([0xff, 0xd8, 0xff, 0xe0]), Buffer.alloc(100)]);
  await page.getByLabel('Choose photos').setInputFiles([
    { name: 'one.jpg', mimeType: 'image/jpeg', buffer },
    { name: 'two.jpg', mimeType: 'image/jpeg', buffer: Buffer.concat([buffer, buffer]) },
  ]);
  await press(page, button(page, 'Upload'));
  const failed = page.getByText('2 photos could not be read');
  const wait = async () => {
    for (await visit.open('/problems'); !(await failed.count()); await page.reload());
  };
  await wait();
  assert.match(await words(page), /one\.jpg/);
  await press(page, button(page, 'Try again: one.jpg'));
  await wait();
  await press(page, button(page, 'Try all again'));
  assert.equal(path(page), '/problems');
  await wait();
  const entry = page.locator('.entries > li', { hasText: 'two.jpg' });
  await entry.locator('summary', { hasText: 'Delete' }).click();
  await press(page, entry.getByRole('button', { name: 'Move to the trash' }));
  assert.doesNotMatch(await words(page), /two\.jpg/);
  await visit.open('/trash');
  assert.match(await words(page), /two\.jpg/);
});
