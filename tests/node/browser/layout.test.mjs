// Every state of every page: reflow, large and spaced text, keyboard, reduced motion and forced colours.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { World } from './support/harness.mjs';
import { faultsOfFit, faultsOfKeyboard, faultsOfMotion, faultsOfOwnColours } from './support/judge.mjs';
import { judgedStateNames, show } from './support/states.mjs';

const world = await World.forTests();
/**
 * The grid of the timeline is one tab stop, and its own test covers its keys. A group of radio buttons is one tab stop, too, and a
 * field for a time or a day has several.
 */
const hasOtherStops = (name) => name.startsWith('timeline') || /^(photos?-edit|search-without)/.test(name);

for (const name of judgedStateNames) {
  test(`layout and keyboard have no faults: ${name}`, async () => {
    const visit = await show(world, name, { reducedMotion: 'reduce' });
    try {
      const faults = [];
      for (const judge of [faultsOfFit, faultsOfKeyboard, faultsOfMotion, faultsOfOwnColours]) {
        if (judge === faultsOfKeyboard && hasOtherStops(name)) continue;
        faults.push(...(await judge(visit.page)));
      }
      assert.deepEqual(faults, []);
    } finally {
      await visit.close();
    }
  });
}
