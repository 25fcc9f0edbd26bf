// What axe-core finds in a page, or in a frame of one, into which it has been put.

const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** What is wrong with a page as it is now, and what a person would have to judge. */
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
