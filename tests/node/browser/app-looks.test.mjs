// Every state of the photo app: axe-core, narrow and wide windows, reduced motion and forced colours.

import assert from 'node:assert/strict';
import { after } from 'node:test';
import axe from 'axe-core';
import { Gallery, galleryStateNames, galleryStates, ownerOfSamples } from './support/gallery.mjs';
import { World } from './support/harness.mjs';
import { Host } from './support/host.mjs';
import { faultsOfMotion, resize } from './support/judge.mjs';
import { judged } from './support/judge-axe.mjs';

const WIDTHS = [320, 360, 800, 1280];

const world = await World.forTests();
const host = await Host.start();
after(() => host.stop());
const ann = await ownerOfSamples(world.service, 'ann');

for (const name of galleryStateNames) {
  const browser = { viewport: { width: 1280, height: 900 }, reducedMotion: 'reduce' };
  world.test(`the app is accessible: ${name}`, browser, async (visit) => {
    const gallery = await Gallery.open(visit, host, ann);
    const { page, frame } = gallery;
    await galleryStates[name](gallery);
    const found = await faultsOfMotion(frame);
    await frame.evaluate(axe.source);
    for (const width of WIDTHS) {
      await resize(page, { width, height: 900 }, frame);
      const wide = await frame.evaluate(tooWide);
      found.push(...wide.map((words) => `${width} px: ${words}`));
      for (const theme of ['light', 'dark']) {
        await page.evaluate((given) => window.host.theme(given), theme);
        await frame.waitForFunction((given) => document.documentElement.dataset.theme === given, theme);
        // Scrolls to the end of the page, where the selection bar covers no picture.
        await frame.evaluate(() => window.scrollTo(0, document.querySelector('#selection').hidden ? 0 : document.body.scrollHeight));
        found.push(...(await judged(frame)).map((words) => `${width} px, ${theme}: ${words}`));
      }
    }
    await page.emulateMedia({ forcedColors: 'active' });
    found.push(...(await frame.evaluate(unseen)));
    assert.deepEqual(found, []);
  });
}

/** In the frame: elements that overflow. */
function tooWide() {
  const root = document.documentElement;
  const faults = root.scrollWidth > root.clientWidth ? [`${root.scrollWidth - root.clientWidth} px too wide`] : [];
  for (const element of document.body.querySelectorAll('button, input, p, h1, h2, img, dd')) {
    const { left, right, width } = element.getBoundingClientRect();
    if (width > 1 && (left < -0.5 || right > root.clientWidth + 0.5)) faults.push(`<${element.localName}> sticks out`);
  }
  return faults;
}

/** In the frame: controls that are invisible with forced colours. */
function unseen() {
  const controls = [...document.querySelectorAll('button')].filter((control) => control.checkVisibility());
  const isLost = (control) => {
    const { borderTopStyle, borderTopWidth } = getComputedStyle(control);
    return borderTopStyle === 'none' || parseFloat(borderTopWidth) < 1;
  };
  return controls.filter(isLost).map((control) => `in forced colours, ${control.textContent.trim() || 'a picture'} is not seen`);
}
