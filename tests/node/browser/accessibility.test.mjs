// Every state of every page, judged by axe-core, in light and dark, on a phone and on a desk.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import axe from 'axe-core';
import { World } from './support/harness.mjs';
import { judged } from './support/judge-axe.mjs';
import { show, stateNames } from './support/states.mjs';

const world = await World.forTests();
const SIZES = [
  { width: 360, height: 800 },
  { width: 1280, height: 900 },
];

for (const name of stateNames) {
  test(`axe finds nothing wrong: ${name}`, async () => {
    // The judge is a script, which the pages' policy would refuse, and would find colours on their way to others.
    const visit = await show(world, name, { bypassCSP: true, reducedMotion: 'reduce' });
    try {
      await visit.page.evaluate(axe.source);
      const found = [];
      for (const size of SIZES) {
        await visit.page.setViewportSize(size);
        for (const colorScheme of schemes(size)) {
          await visit.page.emulateMedia({ colorScheme });
          found.push(...(await judged(visit.page)).map((words) => `${size.width} px, ${colorScheme}: ${words}`));
        }
      }
      assert.deepEqual(found, []);
    } finally {
      await visit.close();
    }
  });
}

/** Each colour scheme on one of the two; in a full run, on both. */
function schemes(size) {
  if (process.env.PHOTOS_TEST_FULL) return ['light', 'dark'];
  return size === SIZES[0] ? ['dark'] : ['light'];
}
