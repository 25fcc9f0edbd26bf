// Every state of every page: reflow, large and spaced text, keyboard, reduced motion and forced colours.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { World } from './support/harness.mjs';
import { faultsOfFit, faultsOfKeyboard, faultsOfMotion, faultsOfOwnColours } from './support/judge.mjs';
import { show, stateNames } from './support/states.mjs';

const world = await World.forTests();

for (const name of stateNames) {
  test(`layout and keyboard have no faults: ${name}`, async () => {
    const visit = await show(world, name, { reducedMotion: 'reduce' });
    try {
      const faults = [];
      for (const judge of [faultsOfFit, faultsOfKeyboard, faultsOfMotion, faultsOfOwnColours]) {
        faults.push(...(await judge(visit.page)));
      }
      assert.deepEqual(faults, []);
    } finally {
      await visit.close();
    }
  });
}
