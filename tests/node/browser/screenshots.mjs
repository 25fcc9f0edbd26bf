// Takes screenshots of every state of every page and of the photo app, in phone and desktop size, in light and dark.
// The argument is the folder for the screenshots.

import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Gallery, galleryStateNames, galleryStates, ownerOfSamples } from './support/gallery.mjs';
import { launch, World } from './support/harness.mjs';
import { Host } from './support/host.mjs';
import { show, stateNames } from './support/states.mjs';

const [, , folder] = process.argv;
if (!folder) throw new Error('usage: node screenshots.mjs FOLDER');
const SIZES = {
  phone: { width: 360, height: 800 },
  desk: { width: 1280, height: 900 },
};

await mkdir(folder, { recursive: true });
const browser = await launch();
try {
  for (const name of stateNames) await photograph(name);
  await photographApp();
} finally {
  await browser.close();
}

/** Each state has its own server, so that the account in every screenshot is Ann's. */
async function photograph(name) {
  const world = await World.start(browser);
  try {
    const options = { deviceScaleFactor: 2, reducedMotion: 'reduce' };
    const visit = await show(world, name, options, 'ann');
    for (const [size, viewport] of Object.entries(SIZES)) {
      await visit.page.setViewportSize(viewport);
      for (const colorScheme of ['light', 'dark']) {
        await visit.page.emulateMedia({ colorScheme });
        await visit.page.evaluate(() => window.scrollTo(0, 0));
        const path = join(folder, `${name}-${size}-${colorScheme}.png`);
        // A blinking caret would make screenshots differ.
        await visit.page.screenshot({ path, fullPage: true, caret: 'hide' });
        console.log(path);
      }
    }
    await visit.close();
  } finally {
    await world.stopServices();
  }
}

/** The photo app in a host. */
async function photographApp() {
  const world = await World.start(browser);
  const host = await Host.start();
  try {
    const ann = await ownerOfSamples(world.service, 'ann');
    for (const name of galleryStateNames) {
      const visit = await world.visit({ viewport: SIZES.desk, deviceScaleFactor: 2, reducedMotion: 'reduce' });
      const gallery = await Gallery.open(visit, host, ann);
      await galleryStates[name](gallery);
      for (const [size, viewport] of Object.entries(SIZES)) {
        await visit.page.setViewportSize(viewport);
        for (const theme of ['light', 'dark']) {
          await visit.page.evaluate((given) => window.host.theme(given), theme);
          await gallery.frame.waitForFunction((given) => document.documentElement.dataset.theme === given, theme);
          // The theme is painted in the next frame.
          await gallery.frame.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
          const path = join(folder, `app-${name}-${size}-${theme}.png`);
          await visit.page.locator('iframe').screenshot({ path, caret: 'hide' });
          console.log(path);
        }
      }
      await visit.close();
    }
  } finally {
    await host.stop();
    await world.service.stop();
  }
}
