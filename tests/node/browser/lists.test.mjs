// Lists of photos other than the timeline: ranges of check boxes by Shift, with the mouse and with the keyboard.

import assert from 'node:assert/strict';
import { World } from './support/harness.mjs';
import { press } from './support/pages.mjs';
import { importPlaces } from './support/places.mjs';

const world = await World.forTests();
const LISBON = [38.7223, -9.1393];
const COUNT = 8;

const person = await world.newAccount();
await importPlaces(world.service, person, Array.from({ length: COUNT }, () => LISBON));

const boxes = (page) => page.locator('ul.rows input[name="image"]');
const checked = (page) => boxes(page).evaluateAll((all) => all.flatMap((box, place) => (box.checked ? [place] : [])));

/** Opens each kind of list with all photos. */
async function openAll({ page }, body) {
  for (const path of ['/search?from=2024-07-14', '/map']) {
    await page.goto(path);
    await body();
  }
  const checkAll = async () => {
    await page.goto('/search?from=2024-07-14');
    for (const box of await boxes(page).all()) await box.check();
  };
  await checkAll();
  await page.locator('input[name="title"]').fill('All');
  await press(page, page.getByRole('button', { name: 'Add to album' }));
  await page.goto('/albums');
  await page.locator('.albums a').first().click();
  await body();
  await checkAll();
  await press(page, page.getByRole('button', { name: 'Delete', exact: true }));
  await press(page, page.getByRole('button', { name: 'Move to the trash' }));
  await page.goto('/trash');
  await body();
}

world.test('Shift extends the selection to a range of photos', {}, async (visit) => {
  const { page } = visit;
  await visit.signIn(person, '/');
  await openAll(visit, async () => {
    const box = (place) => boxes(page).nth(place);
    await boxes(page).nth(COUNT - 1).waitFor();
    await box(2).click();
    await box(5).click({ modifiers: ['Shift'] });
    assert.deepEqual(await checked(page), [2, 3, 4, 5]);
    assert.equal(await page.locator('#status').textContent(), '4 photos selected');
    // Another click with Shift replaces the end of the range, in either direction.
    await box(1).click({ modifiers: ['Shift'] });
    assert.deepEqual(await checked(page), [1, 2]);
    // A range that begins with a deselected photo deselects its photos.
    await box(7).click({ modifiers: ['Shift'] });
    await box(4).click();
    await box(6).click({ modifiers: ['Shift'] });
    assert.deepEqual(await checked(page), [2, 3, 7]);
    // The same by keyboard.
    await box(0).focus();
    await page.keyboard.press('Space');
    await box(1).focus();
    await page.keyboard.press('Shift+Space');
    assert.deepEqual(await checked(page), [0, 1, 2, 3, 7]);
  });
});
