// The web library in Firefox: behaviour that differs between browser engines, such as layout, clamped values and events.

import assert from 'node:assert/strict';
import { launchFirefox } from './support/firefox.mjs';
import { DESK, LargeLibrary } from './support/library.mjs';
import { photos as files } from './support/photos.mjs';
import { choose, isFinished, written } from './support/upload.mjs';

const library = await LargeLibrary.forTests(launchFirefox);
/** Minimum number of photos in the selection. */
const MANY = 12_000;
/** The maximum height of an element in Firefox. */
const HIGHEST_PX = 17.9e6;
/** Factor for the numbers of photos in months, so that the timeline is higher than that. */
const MORE = 100;

const slider = (page) => page.getByRole('slider', { name: 'Date' });
const months = (page) => page.evaluate(async () => (await fetch('/web/months')).json());
const dateOf = (time) => new Date(Number(time)).toISOString().slice(0, 10);
const scaleOf = (page) => page.evaluate(() => new DOMMatrix(getComputedStyle(document.getElementById('photo')).transform).a);
const hasLeft = (page, old) => page.waitForURL((url) => url.href !== old);

/** Opens a photo of the timeline by its link. */
async function openPhoto(page, id) {
  await page.locator(`#timeline li[data-id="${id}"] > a`).click();
  await page.waitForURL(/\/photos\//);
  await page.waitForFunction(() => document.getElementById('photo').naturalWidth > 0);
}

/** Goes to a date with the dialog of the timeline. */
async function goTo({ page }, time) {
  await page.keyboard.press('g');
  await page.locator('dialog input').fill(dateOf(time));
  await page.keyboard.press('Enter');
  await page.locator('dialog').waitFor({ state: 'detached' });
}

library.test('Firefox: photos are in full rows, and keep their place', DESK, async (photos) => {
  const { page } = photos;
  const keeps = async ({ id, top }, what) => {
    const now = await photos.topOf(id);
    assert.ok(Math.abs(now - top) <= 1, `${what}: ${now} instead of ${top}`);
  };
  await photos.open('/');
  const rows = await page.evaluate(() => {
    const boxes = [...document.querySelectorAll('#timeline li')].map((tile) => tile.getBoundingClientRect());
    const whole = boxes.filter(({ top, bottom }) => top >= 0 && bottom <= 1.5 * innerHeight);
    const { right } = document.getElementById('timeline').getBoundingClientRect();
    return [...Map.groupBy(whole, ({ top }) => top).values()].map((row) => right - row.at(-1).right);
  });
  assert.ok(rows.length >= 3, `${rows.length} rows`);
  for (const rest of rows) assert.ok(Math.abs(rest) <= 1, `a row ends ${rest} px before its list`);

  await photos.scroll(40_000);
  await photos.rest();
  // After a reload at this place, the months above are not loaded.
  await page.reload();
  await photos.rest();
  for (let step = 0; step < 6; step += 1) {
    const { id, top } = await photos.first();
    await photos.scroll(-500);
    await keeps({ id, top: top + 500 }, 'a scroll');
    await photos.rest();
    await keeps({ id, top: top + 500 }, 'loading above');
  }

  const place = new URL(page.url()).searchParams.get('at');
  await slider(page).focus();
  await page.keyboard.press('Home');
  await photos.rest();
  await photos.link(0).focus();
  await page.keyboard.press('x');
  await goTo(photos, place);
  await photos.rest();
  const anchor = await photos.first();
  await page.keyboard.press('Delete');
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('button', { name: 'Undo' }).waitFor();
  await photos.rest();
  await keeps(anchor, 'a deletion');
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByText('1 photo restored.', { exact: true }).first().waitFor();
  await photos.rest();
  await keeps(anchor, 'its undoing');
  for (const [width, height] of [[412, 823], [823, 412], [1440, 900]]) {
    await page.setViewportSize({ width, height });
    await photos.rest();
    await keeps(anchor, `${width} wide`);
  }
});

library.test('Firefox: the photo that was opened is in its place after Back and after a reload', DESK, async (photos) => {
  const { page } = photos;
  await photos.open('/');
  await photos.scroll(25_000);
  await photos.rest();
  const { id, top } = await photos.first();
  await page.locator(`#timeline li[data-id="${id}"] > a`).focus();
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/photos\//);
  await page.goBack();
  await photos.rest();
  assert.ok(Math.abs((await photos.topOf(id)) - top) <= 1, 'after Back');
  await page.reload();
  await photos.rest();
  assert.ok(Math.abs((await photos.topOf(id)) - top) <= 1, 'after a reload');
  assert.equal((await photos.first()).id, id);
});

library.test('Firefox: every year and the oldest photo are reached, although no element is high enough', DESK, async (photos) => {
  const { page } = photos;
  await photos.open('/');
  const { m } = await months(page);
  const heightOf = () => page.evaluate(() => document.getElementById('timeline').offsetHeight);
  assert.ok((await heightOf()) * MORE > 2 * HIGHEST_PX);
  // Months with more photos, except in the newest and the oldest year.
  const years = [...new Set(m.map(([key]) => Math.floor(key / 100)))];
  const isBetween = (key) => ![years[0], years.at(-1)].includes(Math.floor(key / 100));
  const more = m.map(([key, count, sum]) => (isBetween(key) ? [key, count * MORE, sum * MORE] : [key, count, sum]));
  await page.addInitScript((m) => {
    const { fetch } = window;
    window.fetch = async (...request) => {
      const reply = await fetch(...request);
      return reply.ok && reply.url.endsWith('/web/months') ? Response.json({ ...(await reply.json()), m }) : reply;
    };
  }, more);
  await photos.open('/');
  assert.ok((await heightOf()) < HIGHEST_PX);
  await slider(page).focus();
  await page.keyboard.press('Home');
  for (const year of years.slice(1)) {
    // Twelve months.
    await page.keyboard.press('PageDown');
    const text = await slider(page).getAttribute('aria-valuetext');
    assert.match(text, new RegExp(` ${year}$`));
    await page.waitForFunction((text) => document.elementFromPoint(200, 60)?.closest('.month')?.querySelector('h2').textContent === text, text);
  }
  await page.keyboard.press('End');
  await photos.rest();
  const last = m.at(-1)[0];
  const start = Date.UTC(Math.floor(last / 100), (last % 100) - 1);
  const oldest = await page.evaluate(async (path) => (await (await fetch(path)).json()).id.at(-1), `/web/month/${last}?after=${start - 1}`);
  const box = await page.locator(`#timeline li[data-id="${oldest}"]`).boundingBox();
  assert.ok(box.y > 0 && box.y + box.height <= DESK.viewport.height + 1, `${box.y}`);
});

library.test('Firefox: the grid and the photo page are used by keyboard, and the photo is zoomed', DESK, async (photos) => {
  const { page } = photos;
  await photos.open('/');
  const focused = () => page.evaluate(() => document.activeElement.closest('li')?.dataset.id);
  const ids = await page.evaluate(() => [...document.querySelectorAll('#timeline li')].map(({ dataset }) => dataset.id));
  await photos.link(0).focus();
  await page.keyboard.press('ArrowRight');
  assert.equal(await focused(), ids[1]);
  await page.keyboard.press('ArrowDown');
  assert.ok((await photos.topOf(await focused())) > (await photos.topOf(ids[1])));
  await page.keyboard.press('ArrowUp');
  assert.equal(await photos.topOf(await focused()), await photos.topOf(ids[1]));
  await page.keyboard.press('Space');
  await page.keyboard.press('Shift+ArrowRight');
  assert.equal((await page.locator('#selected strong').textContent()).trim(), '2 selected');
  await page.keyboard.press('Escape');
  assert.ok(await page.locator('#selected').isHidden());

  await openPhoto(page, ids[4]);
  const start = page.url();
  const [newer, older] = await page.evaluate(() => [...document.querySelectorAll('[rel="prev"], [rel="next"]')].map(({ href }) => href));
  await page.keyboard.press('ArrowRight');
  await hasLeft(page, start);
  assert.equal(page.url(), older);
  await page.keyboard.press('ArrowLeft');
  await hasLeft(page, older);
  assert.equal(page.url(), start);
  await page.locator('[rel="prev"]').click();
  await hasLeft(page, start);
  assert.equal(page.url(), newer);
  await page.keyboard.press('z');
  assert.ok((await scaleOf(page)) > 2);
  await page.waitForFunction(() => document.getElementById('photo').src.endsWith('/full.webp'));
  await page.keyboard.press('Escape');
  assert.equal(await scaleOf(page), 1);
  const { x, y, width, height } = await page.locator('#viewer').boundingBox();
  await page.mouse.move(x + width / 2, y + height / 2);
  await page.keyboard.press('+');
  assert.equal(await scaleOf(page), 1.5);
  await page.mouse.wheel(0, -300);
  await page.waitForFunction(() => new DOMMatrix(getComputedStyle(document.getElementById('photo')).transform).a > 2);
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  await page.waitForURL((url) => url.pathname === '/');
});

library.test('Firefox: a photo is corrected on its page', DESK, async (photos) => {
  const { page } = photos;
  await photos.open('/');
  await openPhoto(page, (await photos.first()).id);
  await page.keyboard.press('i');
  await page.locator('#edit-description').focus();
  await page.keyboard.press('Enter');
  await page.locator('.about textarea').waitFor();
  await page.keyboard.type('A harbour');
  await page.keyboard.press('Control+Enter');
  await page.locator('.description').getByText('A harbour').waitFor();
  await page.waitForFunction(() => document.activeElement.id === 'edit-description');
  await page.keyboard.press('e');
  await page.getByRole('dialog').waitFor();
  await page.getByRole('radio', { name: 'A city' }).check();
  await page.locator('[name="city"]').fill('porto, br');
  await page.getByRole('radio', { name: 'Porto Alegre, Brazil' }).check();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.locator('.about').getByText('Porto Alegre, Brazil').waitFor();
  await page.waitForFunction(() => document.activeElement.id === 'edit-description');
  await page.getByRole('button', { name: 'Undo all corrections' }).click();
  await page.getByRole('link', { name: 'Add a description' }).waitFor();
});

library.test('Firefox: the map is dragged and zoomed, and a cluster opens', DESK, async ({ page }) => {
  await page.goto('/map?z=3&lat=20&lon=0');
  await page.locator('#map.moves').waitFor();
  const at = () => Object.fromEntries([...new URL(page.url()).searchParams].map(([name, value]) => [name, Number(value)]));
  const { x, y, width, height } = await page.locator('#map').boundingBox();
  const [right, down] = [x + width / 2, y + height / 2];
  await page.mouse.move(right, down);
  await page.mouse.down();
  await page.mouse.move(right - 80, down, { steps: 5 });
  await page.mouse.up();
  let before = page.url();
  await hasLeft(page, before);
  const { z, lat, lon } = at();
  assert.ok(lon > 0, 'it moved east');
  before = page.url();
  await page.mouse.wheel(0, -300);
  await hasLeft(page, before);
  assert.ok(at().z > z + 0.5);
  before = page.url();
  await page.locator('#controls a').first().focus();
  await page.keyboard.press('ArrowUp');
  await hasLeft(page, before);
  assert.ok(at().lat > lat);
  before = page.url();
  const seen = at();
  const pins = await page.locator('#clusters a').all();
  const boxes = await Promise.all(pins.map((pin) => pin.boundingBox()));
  const distances = boxes.map((box) => Math.hypot(box.x + box.width / 2 - right, box.y + box.height / 2 - down));
  await pins[distances.indexOf(Math.min(...distances))].click();
  await hasLeft(page, before);
  assert.ok(at().z > seen.z, page.url());
});

library.test('Firefox: 12,000 photos are selected with Shift, and deleted by one request', DESK, async (photos) => {
  const { page } = photos;
  const posted = [];
  page.on('request', (request) => request.method() === 'POST' && posted.push(new URL(request.url()).pathname));
  await photos.open('/');
  const { m, total } = await months(page);
  let [above, place] = [0, 0];
  while (above < MANY) above += m[place++][1];
  const end = Date.UTC(Math.floor(m[place][0] / 100), m[place][0] % 100) - 1;
  const number = new Intl.NumberFormat('en-GB');
  const counted = (count) => page.waitForFunction((text) => document.querySelector('#selected strong').textContent.trim() === text, `${number.format(count)} selected`);
  await photos.link(0).focus();
  await page.keyboard.press('x');
  await counted(1);
  await goTo(photos, end);
  await photos.rest();
  const { id } = await photos.first();
  await page.locator(`li[data-id="${id}"] > a`).click({ modifiers: ['Shift'] });
  await counted(above + 1);
  await page.locator(`li[data-id="${id}"] input[name="image"]`).click();
  await counted(above);
  posted.length = 0;
  await page.keyboard.press('Delete');
  await page.getByRole('dialog', { name: `Delete ${number.format(above)} photos?` }).getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('button', { name: 'Undo' }).waitFor();
  assert.deepEqual(posted, ['/web/selection/count', '/web/selection']);
  assert.equal((await months(page)).total, total - above);
});

library.test('Firefox: the upload page takes a file', DESK, async ({ page }) => {
  const { paths, remove } = await written(files(1));
  try {
    await page.goto('/account/sync');
    await choose(page, paths);
    assert.match(await isFinished(page), /^1 (added|was there already)\.$/);
  } finally {
    await remove();
  }
});
