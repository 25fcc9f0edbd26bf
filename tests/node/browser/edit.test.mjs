// Corrections on the photo page without leaving it: the description in the panel, time and place in a dialog, the cover of an album.

import assert from 'node:assert/strict';
import { World } from './support/harness.mjs';
import { importPhotos, minute } from './support/places.mjs';

const world = await World.forTests();
const LISBON = [38.7223, -9.1393];

/** Adds a test that opens the middle one of three photos, with the panel. */
function photoTest(name, body, query = '') {
  world.test(name, { viewport: { width: 1280, height: 900 }, reducedMotion: 'reduce' }, async (visit) => {
    const { page } = visit;
    const person = await world.newAccount();
    await importPhotos(world.service, person, [0, 1, 2].map((number) => ({ at: minute(number), place: LISBON })));
    await visit.signIn(person, '/');
    const links = await page.locator('ul.rows a').evaluateAll((links) => links.map((link) => link.getAttribute('href')));
    await page.goto(`${links[1]}${query}`);
    await page.keyboard.press('i');
    await page.locator('.about h2').waitFor();
    await page.evaluate(() => (window.isSameDocument = true));
    await body(page, visit, links);
    assert.ok(await page.evaluate(() => window.isSameDocument), 'the page was left');
  });
}

const path = (page) => new URL(page.url()).pathname;
const focused = (page, id) => page.waitForFunction((id) => document.activeElement.id === id, id);
const field = (page) => page.locator('.about textarea');
const sheet = (page) => page.getByRole('dialog');
const shows = (page, text) => page.locator('.about').getByText(text).waitFor();
const says = (page, text) => page.locator('#message').getByText(text).waitFor();
const moved = (page, from) => page.waitForFunction((from) => location.pathname !== from, from);

photoTest('a description is written in the panel, by keyboard', async (page) => {
  await page.locator('#edit-description').focus();
  await page.keyboard.press('Enter');
  await field(page).waitFor();
  await focused(page, 'description');
  // The keys of the page are letters here, and arrows move the cursor.
  const here = path(page);
  await page.keyboard.type('fiez ?');
  await page.keyboard.press('ArrowRight');
  assert.equal(path(page), here);
  await page.keyboard.press('Escape');
  await focused(page, 'edit-description');
  assert.equal(await field(page).count(), 0);
  assert.equal(path(page), here);
  // What was typed comes back.
  await page.locator('#message').getByRole('button', { name: 'Restore' }).click();
  await field(page).waitFor();
  await page.waitForFunction(() => document.querySelector('#description').value.includes('fiez ?'));
  await page.keyboard.press('Escape');
  await focused(page, 'edit-description');

  await page.keyboard.press('Enter');
  await field(page).fill('A harbour\nin the evening');
  await page.keyboard.press('Control+Enter');
  await says(page, 'The photo is corrected.');
  await shows(page, 'A harbour in the evening');
  await focused(page, 'edit-description');
  assert.equal(await page.locator('#photo').getAttribute('alt'), 'A harbour\nin the evening');
  await page.locator('#message').getByRole('button', { name: 'Undo' }).click();
  await says(page, 'The change is undone.');
  await page.getByRole('link', { name: 'Add a description' }).waitFor();
});

photoTest('the text of the description and its pencil open it, and the buttons save and cancel', async (page) => {
  await page.locator('#edit-description').click();
  await field(page).fill('A harbour');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.locator('.description').click();
  await field(page).waitFor();
  assert.equal(await field(page).inputValue(), 'A harbour');
  await field(page).fill('A pier');
  await page.getByRole('link', { name: 'Cancel' }).click();
  await focused(page, 'edit-description');
  await shows(page, 'A harbour');
  await page.getByRole('link', { name: 'Edit the description' }).click();
  await field(page).fill('');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('link', { name: 'Add a description' }).waitFor();
});

photoTest('what was typed stays when the service does not answer, and while other things of the photo change', async (page, { watch }) => {
  await page.locator('#edit-description').click();
  await field(page).fill('A harbour');
  await page.locator('#rating-4').click();
  await page.locator('#rating-4[aria-pressed="true"]').waitFor();
  assert.equal(await field(page).inputValue(), 'A harbour');
  await page.route('**/edit', (route) => route.abort());
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('alert').getByText('The photo library does not respond').waitFor();
  await watch.takes(/ERR_FAILED/);
  assert.equal(await field(page).inputValue(), 'A harbour');
  await page.unroute('**/edit');
  await page.getByRole('button', { name: 'Save' }).click();
  await shows(page, 'A harbour');
});

photoTest('a description belongs to its photo, also if another one is opened before it is saved', async (page, visit, links) => {
  const here = path(page);
  await page.locator('#edit-description').click();
  await field(page).fill('A harbour');
  await page.locator('[rel="next"]').click();
  await moved(page, here);
  await says(page, 'You have an unsaved description.');
  assert.equal(await field(page).count(), 0);
  await page.locator('#edit-description').click();
  await field(page).fill('A pier');
  // The answer arrives when another photo is shown.
  let answer;
  await page.route('**/edit', (route) => (route.request().method() === 'POST' ? (answer = route) : route.continue()));
  const sent = page.waitForRequest((request) => request.method() === 'POST');
  await page.keyboard.press('Control+Enter');
  await sent;
  await page.locator('[rel="prev"]').click();
  await page.waitForFunction((here) => location.pathname === here, here);
  assert.equal(await field(page).inputValue(), 'A harbour');
  await answer.continue();
  await says(page, 'The photo is corrected.');
  assert.equal(await field(page).inputValue(), 'A harbour');
  await page.unroute('**/edit');
  await field(page).press('Control+Enter');
  await shows(page, 'A harbour');
  const texts = [];
  for (const link of links.slice(0, 3)) texts.push(await (await page.context().request.get(link)).text());
  assert.deepEqual(texts.map((text) => /class="text description">([^<]*)/.exec(text)?.[1]), [undefined, 'A harbour', 'A pier']);
});

photoTest('the time is set in a dialog, and the photo moves among its neighbours', async (page, { watch }) => {
  await page.locator('#edit-time').focus();
  await page.keyboard.press('Enter');
  await sheet(page).waitFor();
  await focused(page, 'time');
  await page.getByLabel('Time zone', { exact: true }).fill('Europe/Nowhere');
  await page.getByRole('button', { name: 'Save' }).click();
  await sheet(page).getByRole('alert').getByText('Nothing was changed. Time zone').waitFor();
  await watch.takesStatus(400);
  await focused(page, 'time_zone');
  assert.equal(await page.getByLabel('Time zone', { exact: true }).inputValue(), 'Europe/Nowhere');
  assert.match(await sheet(page).locator('#time_zone-problem').innerText(), /./);
  await page.getByLabel('Time zone', { exact: true }).fill('');
  await page.getByLabel('Time on the clock', { exact: true }).fill('2024-07-14T10:30:00');
  await page.keyboard.press('Control+Enter');
  await shows(page, '14 July 2024, 10:30:00');
  await focused(page, 'edit-time');
  // It is the newest one now.
  assert.equal(await page.locator('[rel="prev"]').count(), 0);
  await page.waitForFunction(() => document.querySelector('.strip li [aria-current]')?.parentElement.previousElementSibling === null);
  await page.getByRole('button', { name: 'Undo the time' }).click();
  await shows(page, '14 July 2024, 00:01:00');
  await page.locator('[rel="prev"]').waitFor();
});

photoTest('cities are offered while their name is typed', async (page) => {
  await page.locator('#edit-place').click();
  await sheet(page).waitFor();
  await focused(page, 'city');
  await page.keyboard.type('san');
  await page.getByRole('radio', { name: 'San Diego, United States' }).check();
  // Another name, and its choice.
  await page.getByLabel('Name of the city').fill('porto, br');
  await page.getByRole('radio', { name: 'Porto Alegre, Brazil' }).waitFor();
  assert.equal(await page.getByRole('radio', { name: 'San Diego, United States' }).count(), 0);
  await page.getByRole('radio', { name: 'Porto Alegre, Brazil' }).check();
  await page.getByRole('button', { name: 'Save' }).click();
  await shows(page, 'Porto Alegre, Brazil');
  assert.equal(await page.locator('.spot').count(), 1);
  await focused(page, 'edit-place');
  // A name of several cities is not saved, and stays.
  await page.keyboard.press('Enter');
  await sheet(page).waitFor();
  await page.getByLabel('Name of the city').fill('santa c');
  await page.getByRole('button', { name: 'Save' }).click();
  await sheet(page).getByRole('alert').getByText('Nothing was saved yet.').waitFor();
  assert.equal(await page.getByLabel('Name of the city').inputValue(), 'santa c');
  // The city of an earlier name is not saved with a later one, however soon.
  await page.getByLabel('Name of the city').fill('porto, br');
  await page.getByRole('radio', { name: 'Porto Alegre, Brazil' }).check();
  await page.getByLabel('Name of the city').fill('Reykjavik');
  await page.keyboard.press('Enter');
  await shows(page, 'Iceland');
  // Escape asks before it discards something.
  await page.locator('#edit-place').click();
  await page.getByLabel('Name of the city').fill('Porto');
  await page.keyboard.press('Escape');
  await sheet(page).getByRole('alert').getByText('Your changes are not saved.').waitFor();
  await page.keyboard.press('Escape');
  await focused(page, 'edit-place');
  assert.equal(await sheet(page).count(), 0);
});

/** The place of the pin, as a screen reader says it, and the fields. */
const pin = (page) => sheet(page).getByRole('slider');
const fields = async (page) => [await page.locator('[name="latitude"]').inputValue(), await page.locator('[name="longitude"]').inputValue()].map(Number);
const isNear = (page, place) => sheet(page).getByRole('status').getByText(place).waitFor();

photoTest('a place is chosen with a pin on a map', async (page) => {
  await page.locator('#edit-place').click();
  await isNear(page, 'Near Lisbon, Portugal');
  assert.equal(await pin(page).getAttribute('aria-valuetext'), '38.7223° N, 9.1393° W');
  const map = sheet(page).locator('.pin-map');
  await map.locator('.land').waitFor({ state: 'attached' });
  // Arrow keys move it, with Shift farther, and the map follows.
  await pin(page).focus();
  await page.keyboard.press('ArrowUp');
  const [north, west] = await fields(page);
  assert.ok(north > 38.7223 && north < 38.76 && Math.abs(west + 9.1393) < 1e-4, `${north} ${west}`);
  assert.ok(await page.getByRole('radio', { name: 'Coordinates' }).isChecked());
  for (let step = 0; step < 5; step += 1) await page.keyboard.press('Shift+ArrowRight');
  assert.ok((await fields(page))[1] > -8.6);
  await pin(page).waitFor();
  // A click puts it there, and a drag moves it.
  const box = await map.boundingBox();
  const middle = { x: box.x + box.width / 2, y: box.y + box.height / 2 };
  await page.mouse.click(middle.x - 100, middle.y + 40);
  const clicked = await fields(page);
  const held = await pin(page).boundingBox();
  await page.mouse.move(held.x + held.width / 2, held.y + held.height / 2);
  await page.mouse.down();
  await page.mouse.move(held.x + held.width / 2 + 60, held.y + held.height / 2 - 30, { steps: 4 });
  await page.mouse.up();
  const dragged = await fields(page);
  assert.ok(dragged[0] > clicked[0] && dragged[1] > clicked[1], `${clicked} ${dragged}`);
  // The map itself is dragged, too. The pin stays at its place.
  await page.mouse.move(middle.x, middle.y + 60);
  await page.mouse.down();
  await page.mouse.move(middle.x + 40, middle.y + 60, { steps: 4 });
  await page.mouse.up();
  assert.deepEqual(await fields(page), dragged);
  // Another city moves both.
  await page.getByRole('radio', { name: 'A city' }).check();
  await page.getByLabel('Name of the city').fill('porto, br');
  await page.getByRole('radio', { name: 'Porto Alegre, Brazil' }).check();
  await isNear(page, 'Near Porto Alegre, Brazil');
  await page.getByRole('radio', { name: 'Leave the place as it is' }).check();
  await isNear(page, 'Near Lisbon, Portugal');
  // Zoomed out to the world, a few steps lead to another continent.
  await pin(page).focus();
  for (let zoom = 0; zoom < 6; zoom += 1) await page.keyboard.press('-');
  await sheet(page).getByRole('button', { name: 'Zoom out' }).click();
  await page.getByRole('radio', { name: 'Coordinates' }).check();
  await page.getByLabel('Latitude').fill('-17.8');
  await page.getByLabel('Longitude').fill('179.99');
  await pin(page).focus();
  await page.keyboard.press('ArrowRight');
  const [, fiji] = await fields(page);
  assert.ok(fiji < -175, `${fiji} is not beyond the 180° meridian`);
  for (let step = 0; step < 12; step += 1) await page.keyboard.press('Shift+ArrowUp');
  assert.equal((await fields(page))[0], 85.05113);
  await page.getByLabel('Latitude').fill('41.15');
  await page.getByLabel('Longitude').fill('-8.61');
  await isNear(page, 'Near Porto, Portugal');
  await page.getByRole('button', { name: 'Save' }).click();
  await shows(page, 'Porto, Portugal');
  await focused(page, 'edit-place');
  await page.locator('#message').getByRole('button', { name: 'Undo' }).click();
  await shows(page, 'Lisbon, Portugal');
});

photoTest('a photo without a place begins where its neighbour is', async (page) => {
  await page.locator('#edit-place').click();
  await page.getByRole('radio', { name: 'Remove the place' }).check();
  await isNear(page, 'No place yet.');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.locator('#edit-place').getByText('Add a place').waitFor();
  await page.locator('#edit-place').click();
  await isNear(page, 'No place yet.');
  assert.equal(await pin(page).getAttribute('aria-valuetext'), 'no place');
  await sheet(page).locator('.pin-map text', { hasText: 'Lisbon' }).waitFor({ state: 'attached' });
  await pin(page).focus();
  await page.keyboard.press('ArrowLeft');
  await isNear(page, 'Near Lisbon, Portugal');
  await page.keyboard.press('Control+Enter');
  await shows(page, 'Lisbon, Portugal');
});

photoTest('the key e opens all fields, and leaves the page as it is without a change', async (page) => {
  const text = await page.locator('.about').innerText();
  await page.keyboard.press('e');
  await sheet(page).waitFor();
  await focused(page, 'description');
  await page.keyboard.press('Escape');
  await page.locator('#edit').click();
  await sheet(page).waitFor();
  await page.getByLabel('Description').fill('A harbour');
  await page.getByRole('radio', { name: 'Remove the place' }).check();
  await page.getByRole('button', { name: 'Save' }).click();
  await shows(page, 'A harbour');
  await page.getByRole('link', { name: 'Add a place' }).waitFor();
  await focused(page, 'edit');
  await page.getByRole('button', { name: 'Undo all corrections' }).click();
  await page.getByRole('link', { name: 'Add a description' }).waitFor();
  assert.equal(await page.locator('.about').innerText(), text);
});

photoTest('a photo of an album becomes its cover, and the newest one again', async (page, visit, links) => {
  const ids = links.map((link) => link.split('/')[2]);
  const { service, context } = visit;
  // Without the panel and its script, a form makes the album.
  await page.locator('.about summary', { hasText: 'Add to an album' }).click();
  await page.getByLabel('New album').fill('Harbours');
  await Promise.all([page.waitForNavigation(), page.getByRole('button', { name: 'Create' }).click()]);
  const album = await page.locator('.albums a').getAttribute('href');
  assert.equal(await page.locator('#cover').count(), 0, 'it was not opened in the album');
  await page.goto(`${links[1]}?in=${album.split('/')[2]}`);
  await page.evaluate(() => (window.isSameDocument = true));
  await page.locator('#cover[aria-pressed="false"]').focus();
  await page.keyboard.press('Enter');
  await page.locator('#cover[aria-pressed="true"]').waitFor();
  await focused(page, 'cover');
  await says(page, 'This photo is the cover of the album now.');
  const covers = async () => (await (await context.request.get(`${service.origin}/albums`)).text());
  assert.ok((await covers()).includes(`/p/${ids[1]}/`));
  await page.keyboard.press('Enter');
  await page.locator('#cover[aria-pressed="false"]').waitFor();
  await says(page, 'The newest photo is the cover of the album now.');
});
