// Every state of every page: reflow, large and spaced text, keyboard, reduced motion and forced colours, and then axe-core in light
// and dark, on a phone and on a desktop.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import axe from 'axe-core';
import { World } from './support/harness.mjs';
import { judged } from './support/judge-axe.mjs';
import { faultsOfFit, faultsOfKeyboard, faultsOfMotion, faultsOfOwnColours, resize } from './support/judge.mjs';
import { judgedStateNames, show } from './support/states.mjs';

const world = await World.forTests();
const SIZES = [
  { width: 360, height: 800 },
  { width: 1280, height: 900 },
];
/**
 * States where Tab does not stop exactly once at each control. The grid of the timeline is one tab stop, and another test covers
 * its keys. A group of radio buttons is one tab stop, too. A field for a time or a day has several.
 */
const hasOtherStops = (name) => name.startsWith('timeline') || /^(photos?-edit|search-without)/.test(name);

for (const name of judgedStateNames) {
  test(`no faults: ${name}`, async () => {
    // The pages' policy would block axe-core's script, and running transitions would change the colours it reads.
    const visit = await show(world, name, { bypassCSP: true, reducedMotion: 'reduce' });
    try {
      const faults = [];
      for (const judge of [faultsOfFit, faultsOfKeyboard, faultsOfMotion, faultsOfOwnColours]) {
        if (judge === faultsOfKeyboard && hasOtherStops(name)) continue;
        faults.push(...(await judge(visit.page)));
      }
      await visit.page.evaluate(axe.source);
      for (const size of SIZES) {
        await resize(visit.page, size);
        for (const colorScheme of schemes(size)) {
          await visit.page.emulateMedia({ colorScheme });
          faults.push(...(await judged(visit.page)).map((words) => `axe-core, ${size.width} px, ${colorScheme}: ${words}`));
        }
      }
      assert.deepEqual(faults, []);
    } finally {
      await visit.close();
    }
  });
}

/** The colour schemes to test at a size: one, or in a full run both. */
function schemes(size) {
  if (process.env.PHOTOS_TEST_FULL) return ['light', 'dark'];
  return size === SIZES[0] ? ['dark'] : ['light'];
}
