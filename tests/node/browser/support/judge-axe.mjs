// Runs axe-core in a page or frame into which it has been loaded.

const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** The violations, and the results that axe-core leaves to a person. */
export async function judged(page) {
  const options = { runOnly: TAGS, resultTypes: ['violations', 'incomplete'] };
  const { violations, incomplete } = await page.evaluate((given) => window.axe.run(given), options);
  return [...violations, ...incomplete].flatMap(({ id, help, nodes }) =>
    nodes.map(({ target, failureSummary, any }) => {
      const why = failureSummary ?? any.map(({ message }) => message).join('; ');
      return `${id} (${help}) at ${target}: ${why}`;
    }),
  );
}
