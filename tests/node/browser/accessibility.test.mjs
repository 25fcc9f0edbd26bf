// Every state of every page: axe-core in light and dark, on a phone and on a desktop.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import axe from 'axe-core';
import { World } from './support/harness.mjs';
import { judged } from './support/judge-axe.mjs';
import { resize } from './support/judge.mjs';
import { judgedStateNames, show } from './support/states.mjs';

const world = await World.forTests();
const SIZES = [
  { width: 360, height: 800 },
  { width: 1280, height: 900 },
];

for (const name of judgedStateNames) {
  test(`axe-core finds no faults: ${name}`, async () => {
    // The pages' policy would block axe-core's script, and running transitions would change the colours it reads.
    const visit = await show(world, name, { bypassCSP: true, reducedMotion: 'reduce' });
    try {
      await visit.page.evaluate(axe.source);
      const found = [];
      for (const size of SIZES) {
        await resize(visit.page, size);
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

/** One colour scheme for each size; in a full run, both. */
function schemes(size) {
  if (process.env.PHOTOS_TEST_FULL) return ['light', 'dark'];
  return size === SIZES[0] ? ['dark'] : ['light'];
}
