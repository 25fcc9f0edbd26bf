// Every state of every page, judged by axe-core, in light and dark, on a phone and on a desk.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import axe from 'axe-core';
import { World } from './support/harness.mjs';
import { show, stateNames } from './support/states.mjs';

const world = await World.forTests();
const SIZES = [
  { width: 360, height: 800 },
  { width: 1280, height: 900 },
];
const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

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

/** What is wrong with a page as it is now, and what a person would have to judge. */
async function judged(page) {
  const options = { runOnly: TAGS, resultTypes: ['violations', 'incomplete'] };
  const { violations, incomplete } = await page.evaluate((given) => window.axe.run(given), options);
  return [...violations, ...incomplete].flatMap(({ id, help, nodes }) =>
    nodes.map(({ target, failureSummary, any }) => {
      const why = failureSummary ?? any.map(({ message }) => message).join('; ');
      return `${id} (${help}) at ${target}: ${why}`;
    }),
  );
}
