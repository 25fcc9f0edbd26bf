// Runs axe-core in a page or frame into which it has been loaded.

const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/**
 * The violations, and the results that axe-core leaves to a person. What is scrolled out of sight within a part of the page, or
 * covered by the header, its menu, the suggestions or a bar at the bottom of the window, would be left to one. So would names on a
 * map, because axe-core does not know the colour of the land behind them.
 */
export async function judged(page) {
  await page.evaluate(() => {
    for (const element of document.querySelectorAll('body *')) element.scrollTop = 0;
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(`
      .top, .dock, .actions, .menu > div, .suggestions { position: relative !important; inset: auto !important; }
      .top > div { height: auto !important; }
      .pin-map g { display: none !important; }
      .spot text { visibility: hidden !important; }`);
    document.adoptedStyleSheets = [sheet];
  });
  const options = { runOnly: TAGS, resultTypes: ['violations', 'incomplete'] };
  const { violations, incomplete } = await page.evaluate((given) => window.axe.run(given), options);
  return [...violations, ...incomplete].flatMap(({ id, help, nodes }) =>
    nodes.map(({ target, failureSummary, any }) => {
      const why = failureSummary ?? any.map(({ message }) => message).join('; ');
      return `${id} (${help}) at ${target}: ${why}`;
    }),
  );
}
