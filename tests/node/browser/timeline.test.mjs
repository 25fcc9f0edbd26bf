// The timeline of a large library: its costs, the places of photos, and how every photo can be reached and selected.

import assert from 'node:assert/strict';
import { DESK, LargeLibrary, PHONE, within } from './support/library.mjs';

const library = await LargeLibrary.forTests();
const SCREENS = 200;
/** Minimum number of photos in the selection. */
const MANY = 12_000;

/** Records paints, shifts and long tasks from the beginning of each document. */
function record() {
  window.recorded = { shift: 0, tasks: [], from: 0 };
  const observe = (type, body) =>
    new PerformanceObserver((list) => list.getEntries().forEach(body)).observe({ type, buffered: true });
  observe('paint', ({ name, startTime }) => (window.recorded[name] = startTime));
  observe('largest-contentful-paint', ({ startTime }) => (window.recorded.largest = startTime));
  observe('layout-shift', ({ value, hadRecentInput }) => (window.recorded.shift += hadRecentInput ? 0 : value));
  observe('longtask', ({ startTime, duration }) => startTime >= window.recorded.from && window.recorded.tasks.push(duration));
}

library.test('the first screen is small and fast, and the second visit costs little', PHONE, async (photos) => {
  const { page } = photos;
  await page.addInitScript(record);
  await photos.slowDown();
  let counted = photos.countBytes();
  await page.goto('/', { waitUntil: 'commit' });
  const images = await photos.inSight();
  await photos.rest();
  const bytes = counted(images);
  const times = await page.evaluate(() => window.recorded);
  within('first visit', 'kilobytes', bytes.all / 1000, 160);
  within('first visit', 'kilobytes without images', (bytes.all - bytes.image) / 1000, 45);
  // No other image is loaded until those in sight are complete.
  const onThisDay = await page.locator('.this-day img:visible').count();
  within('first visit', 'images', bytes.images, images.length + onThisDay);
  // The size of the scripts includes the heads of their responses.
  within('first visit', 'kilobytes of scripts', bytes.script / 1024, 21);
  within('first visit', 'shift', times.shift, 0.02);
  within('first visit', 'first paint in ms', times['first-contentful-paint'], 1_200, true);
  within('first visit', 'largest paint in ms', times.largest, 2_000, true);
  within('first visit', 'longest task in ms', Math.max(0, ...times.tasks), 100, true);
  await page.waitForLoadState('networkidle');
  counted = photos.countBytes();
  await photos.open('/');
  within('second visit', 'kilobytes', counted().all / 1000, 20);
  within('second visit', 'shift', await page.evaluate(() => window.recorded.shift), 0.02);
});

library.test('a photo that is selected before the script is ready stays selected', DESK, async (photos) => {
  const { page } = photos;
  let ready;
  const held = new Promise((resolve) => (ready = resolve));
  await page.route('**/web/months', async (route) => {
    await held;
    await route.continue();
  });
  await page.goto('/');
  const box = page.locator('#timeline input[name="image"]').nth(1);
  await box.check({ force: true });
  ready();
  await page.locator('#selected').waitFor();
  assert.equal((await page.locator('#selected strong').textContent()).trim(), '1 selected');
  assert.ok(await box.isChecked());
});

library.test('a day is selected from its heading', DESK, async (photos) => {
  const { page } = photos;
  await photos.open('/');
  const day = page.locator('#timeline .of-day').first();
  const text = (await page.locator('#timeline h3').first().textContent()).split(' · ')[0];
  assert.equal(await day.getAttribute('aria-label'), `Select all of ${text}`);
  /** Whether the photos of the first day, and those of others, are selected. */
  const selected = () => page.locator('#timeline li').evaluateAll((items) => {
    const days = items.map(({ tile: { photo } }) => Math.floor((photo.t + 0.5) / 864e5));
    const states = (isFirst) => [...new Set(items.filter((_, place) => (days[place] === days[0]) === isFirst).map(({ classList }) => classList.contains('selected')))];
    return [states(true), states(false)];
  });
  await day.check();
  await page.locator('#selected').waitFor();
  assert.deepEqual(await selected(), [[true], [false]]);
  const second = page.locator('#timeline .of-day').nth(1);
  await second.focus();
  await page.keyboard.press('Space');
  assert.ok(await second.isChecked());
  await page.keyboard.press('Space');
  assert.deepEqual(await selected(), [[true], [false]]);
  await page.locator('#timeline input[name="image"]').first().uncheck();
  assert.ok(!(await day.isChecked()));
  await day.check();
  await day.uncheck();
  assert.deepEqual(await selected(), [[false], [false]]);
});

library.test('a place inside the library opens without a shift', PHONE, async (photos) => {
  const { page } = photos;
  await page.addInitScript(record);
  await photos.open('/');
  await photos.scroll(30_000);
  await photos.rest();
  const { top } = await photos.first();
  await page.goto(page.url());
  await photos.rest();
  const again = await photos.first();
  assert.ok(Math.abs(again.top - top) <= 1, `${again.top} instead of ${top}`);
  within('a place', 'shift', await page.evaluate(() => window.recorded.shift), 0.02);
});

for (const [name, device] of Object.entries({ phone: PHONE, desk: DESK })) {
  library.test(`scrolling ${SCREENS} screens stays light: ${name}`, device, async (photos) => {
    const { page, browser } = photos;
    await browser.send('Performance.enable');
    await page.addInitScript(record);
    await photos.open('/');
    const before = await photos.weight();
    // Garbage collection counts as a long task, so the tasks so far are dropped.
    await page.evaluate(() => Object.assign(window.recorded, { tasks: [], from: performance.now() }));
    let most = 0;
    for (let screen = 0; screen < SCREENS; screen += 1) {
      await photos.scroll(device.viewport.height);
      // Every tenth pause is longer, so that pages and images can load.
      await page.waitForTimeout(screen % 10 === 9 ? 300 : 40);
      most = Math.max(most, await page.evaluate(() => document.querySelectorAll('*').length));
    }
    await photos.rest();
    const tasks = await page.evaluate(() => window.recorded.tasks);
    const after = await photos.weight();
    within(name, 'nodes', most, 1_500);
    within(name, 'longest task in ms', Math.max(0, ...tasks), 50, true);
    within(name, 'further heap in MB', (after.heap - before.heap) / 1e6, 20);
  });
}

library.test('photos keep their place when others above them load, and when the window changes', DESK, async (photos) => {
  const { page } = photos;
  await photos.open('/');
  await photos.scroll(40_000);
  await photos.rest();
  // After a reload at this place, the months above are not loaded.
  await page.reload();
  await photos.rest();
  let moved = 0;
  for (let step = 0; step < 12; step += 1) {
    const { id, top } = await photos.first();
    await photos.scroll(-250);
    const at = await photos.topOf(id);
    await photos.rest();
    moved = Math.max(moved, Math.abs((await photos.topOf(id)) - at));
    assert.ok(Math.abs(at - top - 250) <= 1, `the scroll moved by ${at - top}`);
  }
  within('loading above', 'pixels', moved, 1);
  // Deletes a photo above, and undoes the deletion.
  const place = page.url();
  await page.getByRole('slider', { name: 'Date' }).focus();
  await page.keyboard.press('Home');
  await photos.rest();
  await photos.link(0).focus();
  await page.keyboard.press('x');
  await page.keyboard.press('g');
  await page.locator('dialog input').fill(new Date(Number(new URL(place).searchParams.get('at'))).toISOString().slice(0, 10));
  await page.keyboard.press('Enter');
  await photos.rest();
  const { id, top } = await photos.first();
  await page.keyboard.press('Delete');
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('button', { name: 'Undo' }).waitFor();
  await photos.rest();
  assert.ok(Math.abs((await photos.topOf(id)) - top) <= 1, 'after a deletion');
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByText('1 photo restored.', { exact: true }).first().waitFor();
  await photos.rest();
  assert.ok(Math.abs((await photos.topOf(id)) - top) <= 1, 'after it was undone');
  for (const [width, height] of [[1100, 900], [700, 900], [412, 823], [823, 412], [1440, 900]]) {
    await page.setViewportSize({ width, height });
    await photos.rest();
    const now = await photos.topOf(id);
    assert.ok(Math.abs(now - top) <= 1, `${width} wide: ${now} instead of ${top}`);
  }
});

library.test('the photo that was opened is in its place after Back and after a reload', DESK, async (photos) => {
  const { page } = photos;
  await photos.open('/');
  await photos.scroll(25_000);
  await photos.rest();
  const { id, top } = await photos.first();
  await page.locator(`#timeline li[data-id="${id}"] > a`).evaluate((link) => link.click());
  await page.waitForURL(/\/photos\//);
  await page.goBack();
  await photos.rest();
  assert.ok(Math.abs((await photos.topOf(id)) - top) <= 1, 'after Back');
  await page.reload();
  await photos.rest();
  assert.ok(Math.abs((await photos.topOf(id)) - top) <= 1, 'after a reload');
  assert.equal(await page.evaluate(() => document.activeElement.closest('li')?.dataset.id), id);
});

library.test('the slider reaches every year and the oldest photo', DESK, async (photos) => {
  const { page } = photos;
  await photos.open('/');
  const { m } = await page.evaluate(async () => (await fetch('/web/months')).json());
  const slider = page.getByRole('slider', { name: 'Date' });
  await slider.focus();
  await page.keyboard.press('Home');
  const years = [...new Set(m.map(([key]) => Math.floor(key / 100)))];
  const reached = new Set();
  for (let month = 0; month < m.length; month += 1) {
    const text = await slider.getAttribute('aria-valuetext');
    reached.add(Number(/\d+$/.exec(text)[0]));
    if (month % 40 === 5) {
      await photos.rest();
      const heading = await page.evaluate(() => {
        const section = document.elementFromPoint(200, 60).closest('.month');
        return section.querySelector('h2').textContent;
      });
      assert.equal(heading, text);
    }
    await page.keyboard.press('ArrowDown');
  }
  assert.deepEqual([...reached], years);
  await page.keyboard.press('End');
  await photos.rest();
  const key = m.at(-1)[0];
  const oldest = await page.evaluate(async (key) => {
    const from = Date.UTC(Math.floor(key / 100), (key % 100) - 1) - 1;
    return (await (await fetch(`/web/month/${key}?after=${from}`)).json()).id.at(-1);
  }, key);
  await page.locator(`#timeline li[data-id="${oldest}"]`).waitFor();
  const bottom = await page.evaluate((id) => document.querySelector(`li[data-id="${id}"]`).getBoundingClientRect().bottom, oldest);
  assert.ok(bottom > 0 && bottom <= DESK.viewport.height + 1, `${bottom}`);
});

library.test('the mouse over the slider shows photos of the time there, and a drag hides them', DESK, async (photos) => {
  const { page } = photos;
  await photos.open('/');
  const slider = await page.getByRole('slider', { name: 'Date' }).boundingBox();
  const preview = page.locator('.preview');
  const hover = (share) => page.mouse.move(slider.x + slider.width / 2, slider.y + slider.height * share);
  const months = [];
  for (const share of [0.2, 0.5, 0.95]) {
    await hover(share);
    await page.waitForFunction((months) => {
      const preview = document.querySelector('.preview:not([hidden])');
      const images = [...(preview?.querySelectorAll('img') ?? [])];
      return images.length === 4 && images.every(({ naturalWidth }) => naturalWidth > 0) && !months.includes(preview.querySelector('p').textContent);
    }, months);
    months.push(await preview.locator('p').textContent());
    const { y, height } = await preview.boundingBox();
    assert.ok(y >= 0 && y + height <= DESK.viewport.height, `${y}, ${height} high`);
  }
  assert.equal(new Set(months).size, 3);
  assert.equal(await page.evaluate(() => scrollY), 0);
  // A press goes to the month that was shown.
  await page.mouse.down();
  await page.mouse.up();
  assert.ok(await preview.isHidden());
  await photos.rest();
  assert.equal(await page.getByRole('slider', { name: 'Date' }).getAttribute('aria-valuetext'), months[2]);
});

library.test('many photos are selected by a range in either direction, deleted and restored', DESK, async (photos) => {
  const { page } = photos;
  const posted = [];
  page.on('request', (request) => request.method() === 'POST' && posted.push(request.url().replace(/.*(?=\/web)/, '')));
  await photos.open('/');
  const { m, total } = await page.evaluate(async () => (await fetch('/web/months')).json());
  // Finds a month with at least MANY photos above it.
  let [above, place] = [0, 0];
  while (above < MANY && place < m.length - 1) above += m[place++][1];
  const end = Date.UTC(Math.floor(m[place][0] / 100), m[place][0] % 100) - 1;
  const down = async () => {
    await page.goto(`/?at=${end}`);
    await photos.rest();
  };
  const slider = page.getByRole('slider', { name: 'Date' });
  const count = () => page.locator('#selected strong').textContent();
  const counted = (text) => page.waitForFunction((text) => document.querySelector('#selected strong').textContent.trim() === text, text);
  const number = new Intl.NumberFormat('en-GB');

  // Backwards: from an old photo to the newest.
  await down();
  const first = await photos.first();
  await page.locator(`li[data-id="${first.id}"] input[name="image"]`).click({ force: true });
  await slider.focus();
  await page.keyboard.press('Home');
  await photos.rest();
  const took = await photos.link(0).evaluate((link) => {
    const began = performance.now();
    link.dispatchEvent(new MouseEvent('click', { shiftKey: true, bubbles: true, cancelable: true }));
    return performance.now() - began;
  });
  within('selection', 'ms', took, 100, true);
  await counted(`${number.format(above + 1)} selected`);
  await page.keyboard.press('Escape');
  assert.ok(await page.locator('#selected').isHidden());

  // Forwards, from the newest.
  await photos.link(0).focus();
  await page.keyboard.press('x');
  assert.equal(await count(), '1 selected');
  await page.keyboard.press('g');
  await page.locator('dialog input').fill(new Date(end).toISOString().slice(0, 10));
  await page.keyboard.press('Enter');
  await photos.rest();
  const target = await photos.first();
  await page.locator(`li[data-id="${target.id}"] > a`).click({ modifiers: ['Shift'] });
  await counted(`${number.format(above + 1)} selected`);
  // Deselects one photo of the range.
  await page.locator(`li[data-id="${target.id}"] input[name="image"]`).click();
  await counted(`${number.format(above)} selected`);

  posted.length = 0;
  await page.keyboard.press('Delete');
  const dialog = page.getByRole('dialog', { name: `Delete ${number.format(above)} photos?` });
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('button', { name: 'Undo' }).waitFor();
  assert.deepEqual(posted, ['/web/selection/count', '/web/selection']);
  await photos.rest();
  assert.equal((await page.evaluate(async () => (await fetch('/web/months')).json())).total, total - above);
  assert.equal(Math.round(await photos.topOf(target.id)) > 0, true, 'the photo that is left is in sight');
  const restored = page.waitForResponse((answer) => answer.url().endsWith('/web/selection'));
  await page.getByRole('button', { name: 'Undo' }).click();
  await restored;
  await counted(`${number.format(above)} selected`);
  assert.equal((await page.evaluate(async () => (await fetch('/web/months')).json())).total, total);
});

library.test('the grid is used by keyboard', DESK, async (photos) => {
  const { page } = photos;
  await photos.open('/');
  const focused = () => page.evaluate(() => document.activeElement.closest('li')?.dataset.id);
  const ids = await page.evaluate(() => [...document.querySelectorAll('#timeline li')].map(({ dataset }) => dataset.id));
  assert.equal(await page.locator('#timeline li > a[tabindex="0"]').count(), 1, 'one tab stop');
  await photos.link(0).focus();
  await page.keyboard.press('ArrowRight');
  assert.equal(await focused(), ids[1]);
  await page.keyboard.press('ArrowDown');
  assert.ok((await photos.topOf(await focused())) > (await photos.topOf(ids[1])));
  await page.keyboard.press('ArrowUp');
  assert.equal(await photos.topOf(await focused()), await photos.topOf(ids[1]));
  await page.keyboard.press('Space');
  await page.keyboard.press('Shift+ArrowRight');
  await page.keyboard.press('Shift+ArrowRight');
  assert.equal((await page.locator('#selected strong').textContent()).trim(), '3 selected');
  await page.keyboard.press('Shift+ArrowLeft');
  assert.equal((await page.locator('#selected strong').textContent()).trim(), '2 selected');
  await page.keyboard.press('Escape');
  // Moves further than the loaded photos.
  for (let press = 0; press < 60; press += 1) await page.keyboard.press('ArrowDown');
  await page.waitForFunction((ids) => !ids.includes(document.activeElement.closest('li')?.dataset.id), ids);
  await photos.rest();
  const box = await page.evaluate(() => document.activeElement.getBoundingClientRect().toJSON());
  assert.ok(box.top >= 0 && box.bottom <= DESK.viewport.height, 'the focus is in sight');
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keys' }).getByRole('checkbox').uncheck();
  await page.keyboard.press('Escape');
  await page.locator('dialog').waitFor({ state: 'detached' });
  await page.keyboard.press('g');
  assert.equal(await page.locator('dialog').count(), 0, 'letters are off');
  await page.evaluate(() => localStorage.clear());
  await page.keyboard.press('g');
  await page.getByRole('dialog', { name: 'Go to a date' }).waitFor();
  await page.keyboard.press('Escape');
  await photos.rest();
});

library.test('photos that fail to load are named, and loaded on request', DESK, async (photos) => {
  const { page, watch } = photos;
  await photos.open('/');
  await page.route('**/web/month/*', (route) => route.abort());
  await page.keyboard.press('End');
  const button = page.getByRole('button', { name: /^Load \w+ \d+ \(/ }).first();
  await page.getByText('The photo library does not respond').first().waitFor();
  assert.ok(await button.isVisible());
  await page.unroute('**/web/month/*');
  await button.click();
  await button.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Try again' }).click();
  await photos.rest();
  watch.forgets(/ERR_FAILED/);
});

library.test('a long press selects, and dragging on selects a range', PHONE, async (photos) => {
  const { page, browser } = photos;
  await photos.open('/');
  const boxes = await page.evaluate(() => [...document.querySelectorAll('#timeline li')].slice(0, 6).map((tile) => tile.getBoundingClientRect().toJSON()));
  const point = ({ left, top, width, height }) => ({ x: left + width / 2, y: top + height / 2 });
  const touch = (type, ...boxes) => browser.send('Input.dispatchTouchEvent', { type, touchPoints: boxes.map(point) });
  await touch('touchStart', boxes[1]);
  await page.locator('#selected').waitFor();
  await touch('touchMove', boxes[2]);
  await touch('touchMove', boxes[5]);
  await touch('touchEnd');
  assert.match(await page.locator('#selected strong').textContent(), /^5/);
  assert.equal(await page.evaluate(() => scrollY), 0);
  // While photos are selected, a tap selects another one.
  await photos.link(0).tap();
  assert.match(await page.locator('#selected strong').textContent(), /^6/);
  await page.getByRole('button', { name: 'Clear the selection' }).tap();
  assert.ok(await page.locator('#selected').isHidden());
});

library.test('without JavaScript the page has photos, check boxes and links to other months', { ...DESK, javaScriptEnabled: false }, async ({ page }) => {
  await page.goto('/');
  assert.ok((await page.locator('#timeline li > a > img').count()) >= 30);
  assert.ok((await page.locator('#timeline li > input[type="checkbox"]').count()) >= 30);
  assert.ok(await page.locator('nav.months a').first().isVisible());
  const widths = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  assert.ok(widths[0] <= widths[1], 'it fits');
});
