// From an empty folder to the first own photo: how much a person has to do. Times are printed, not judged.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { World } from './support/harness.mjs';
import { setUpForm } from './support/pages.mjs';
import { PASSWORD, Service } from './support/service.mjs';
import { give } from './support/upload.mjs';
import { photos } from './support/photos.mjs';

const world = await World.forTests();
const DESK = { viewport: { width: 1440, height: 900 } };
const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };

/** A photo of the person. */
const OWN = join(process.env.FIXTURES ?? '', 'samples', 'sleeping-cat.jpg');

/**
 * Starts a server on an empty folder, opens the link that it prints, and creates the account. `add` adds a photo. Returns the clicks
 * and the fields that were typed in until the photo is in sight in the timeline.
 */
async function untilTheFirstPhoto(another, name, add) {
  const started = Date.now();
  const service = await Service.start();
  try {
    const visit = await another(service);
    const { page } = visit;
    const done = { clicks: [], fields: new Set() };
    await page.exposeFunction('report', (kind, what) => (kind === 'click' ? done.clicks.push(what) : done.fields.add(what)));
    await page.addInitScript(() => {
      // A click by a script is none by the person.
      addEventListener('click', ({ isTrusted, target }) => isTrusted && window.report('click', target.textContent.trim()), true);
      addEventListener('input', ({ isTrusted, target }) => isTrusted && target.type !== 'file' && window.report('field', target.name), true);
    });
    await visit.open(service.setUpPath);
    // The first field has the focus already.
    await page.waitForFunction(() => document.activeElement?.name === 'email');
    await page.keyboard.type('ann@example.org');
    await page.keyboard.press('Tab');
    await page.keyboard.type(PASSWORD);
    await setUpForm(page).button.click();
    await page.locator('#empty').waitFor();
    await add(page);
    await page.waitForFunction(() => {
      const image = document.querySelector('#timeline li img');
      const { top, bottom } = image?.getBoundingClientRect() ?? {};
      return image?.naturalWidth > 0 && top >= 0 && bottom <= innerHeight;
    });
    console.log(`${name}: ${done.clicks.length} clicks, ${done.fields.size} fields, ${((Date.now() - started) / 1000).toFixed(1)} s from the start of the server`);
    // A page that still loads something would complain about the service when it has stopped.
    await page.goto('about:blank');
    return { clicks: done.clicks, fields: [...done.fields] };
  } finally {
    await service.stop();
  }
}

for (const [device, options] of Object.entries({ desk: DESK, phone: PHONE })) {
  // Opening the file in the dialog of the system is the third click.
  world.test(`two clicks and the dialog for files show the first photo, on a ${device}`, options, async (_, another) => {
    const { clicks, fields } = await untilTheFirstPhoto(another, `chosen on a ${device}`, async (page) => {
      const [chooser] = await Promise.all([page.waitForEvent('filechooser'), page.getByRole('button', { name: 'Choose photos' }).click()]);
      await chooser.setFiles([OWN]);
    });
    assert.deepEqual(clicks, ['Create account', 'Choose photos']);
    assert.deepEqual(fields, ['email', 'password']);
  });
}

world.test('one click and a drop show the first photo', DESK, async (_, another) => {
  const { clicks, fields } = await untilTheFirstPhoto(another, 'dropped', (page) => give(page, photos(1)));
  assert.deepEqual(clicks, ['Create account']);
  assert.deepEqual(fields, ['email', 'password']);
});
