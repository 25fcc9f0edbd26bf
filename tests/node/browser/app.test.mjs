// The photo app in the frame of an MCP Apps host, with the official bridge and a real library.

import assert from 'node:assert/strict';
import { after } from 'node:test';
import { Gallery, TOOL, ownerOfMany, ownerOfSamples, someTitle } from './support/gallery.mjs';
import { World } from './support/harness.mjs';
import { Host } from './support/host.mjs';

const SAMPLES = 13;
const MANY = 104;
/** A number of pictures that are all visible at once. */
const FEW = 4;

const world = await World.forTests();
const host = await Host.start();
after(() => host.stop());
const ann = await ownerOfSamples(world.service, 'ann');
const bob = await ownerOfMany(world.service, 'bob', MANY);
const eve = await ownerOfMany(world.service, 'eve', 3);
const fay = await ownerOfMany(world.service, 'fay', 4);

/** Adds a test with the app open in a host. */
function test(name, options, body) {
  const { owner = ann, browser = {}, ...rest } = options;
  world.test(name, { viewport: { width: 800, height: 900 }, ...browser }, async (visit) => {
    await body(await Gallery.open(visit, host, owner, rest), visit);
  });
}

const button = (place, name) => place.getByRole('button', { name, exact: true });

test('photos load under the declared policy', {}, async (gallery, { service }) => {
  assert.deepEqual(gallery.csp.resourceDomains, [service.origin]);
  await gallery.show();
  await gallery.arePainted(SAMPLES);
  assert.equal(await gallery.frame.evaluate(() => window.origin), 'null');
  assert.ok(gallery.asked.length >= 6, gallery.asked.join());
  for (const url of gallery.asked) assert.ok(url.startsWith(`${service.origin}/i/`), url);
  assert.match(await gallery.summary.innerText(), /^13 photos · 6 Dec 2007\s–\s\d+ \w+ \d{4}$/);
});

test('the policy blocks pictures of other hosts', {}, async (gallery, { watch }) => {
  const refused = await gallery.frame.evaluate(async () => {
    const picture = new Image();
    picture.src = 'https://elsewhere.example/picture.png';
    return new Promise((resolve) => picture.addEventListener('error', () => resolve(true)));
  });
  assert.ok(refused);
  await watch.takes(/^console: .*violates the following Content Security Policy directive: "img-src/);
});

test('photos become favourites, in the viewer and as a selection', { owner: fay }, async (gallery) => {
  const { page, viewer, selection } = gallery;
  await gallery.show();
  const hearts = () => gallery.frame.locator('#grid [data-favorite="true"]').count();
  await gallery.picture(0).click();
  const favorite = button(viewer, 'Favourite');
  await favorite.click();
  await viewer.locator('[data-does="favorite"][aria-pressed="true"]').waitFor();
  await page.keyboard.press('ArrowRight');
  assert.equal(await favorite.getAttribute('aria-pressed'), 'false');
  await page.keyboard.press('f');
  await viewer.locator('[data-does="favorite"][aria-pressed="true"]').waitFor();
  await button(viewer, 'Close').click();
  assert.equal(await hearts(), 2);
  assert.match(await gallery.frame.locator('#grid img').first().getAttribute('alt'), /, favourite$/);
  await gallery.select(0, 1, 2);
  await button(selection, 'Favourite').click();
  await button(selection, 'Remove from favourites').waitFor();
  assert.equal(await hearts(), 3);
  // The library has them, too.
  await gallery.show();
  assert.equal(await hearts(), 3);
  await gallery.select(0, 1, 2);
  await button(selection, 'Remove from favourites').click();
  await button(selection, 'Favourite').waitFor();
  assert.equal(await hearts(), 0);
});

test('an app that may not edit has no favourites to change', { owner: eve, resource: '/api/mcp/legacy' }, async (gallery) => {
  await gallery.show();
  await gallery.picture(0).click();
  await button(gallery.viewer, 'Close').waitFor();
  assert.equal(await button(gallery.viewer, 'Favourite').count(), 0);
});

test('a photo that cannot be changed says why', { owner: eve }, async (gallery) => {
  const { viewer } = gallery;
  await gallery.show();
  await gallery.picture(0).click();
  await gallery.page.evaluate((refusal) => window.host.put(() => refusal), refused('This app may not edit your photos.'));
  await button(viewer, 'Favourite').click();
  await viewer.getByText('The photo could not be changed. This app may not edit your photos.').waitFor();
  assert.equal(await button(viewer, 'Favourite').getAttribute('aria-pressed'), 'false');
});

test('pictures have alternative text', {}, async (gallery) => {
  await gallery.show({ endDate: '2016-01-01' });
  const names = await gallery.frame.locator('#grid img').evaluateAll((all) => all.map(({ alt }) => alt));
  assert.equal(names[0], 'Photo: Madrid, Spain, 10 Apr 2015');
  assert.ok(names.some((name) => name.startsWith('El cielo sobre Berlin')), names.join('\n'));
});

test('the viewer is opened, browsed and closed by keyboard', {}, async (gallery) => {
  const { page, viewer } = gallery;
  await gallery.show();
  await gallery.arePainted(SAMPLES);
  const focused = () => gallery.frame.evaluate(() => document.activeElement.closest('li')?.dataset.id);
  const ids = await gallery.ids();
  await gallery.press(gallery.frame.getByRole('button', { name: 'Full screen' }), 'Tab');
  assert.equal(await focused(), ids[0]);
  await page.keyboard.press('ArrowRight');
  assert.equal(await focused(), ids[1]);
  await page.keyboard.press('ArrowDown');
  const below = ids.indexOf(await focused());
  assert.ok(below > 1, `${below}`);
  await page.keyboard.press('ArrowUp');
  assert.equal(await focused(), ids[1]);
  await page.keyboard.press('End');
  assert.equal(await focused(), ids.at(-1));
  await page.keyboard.press('Home');
  await page.keyboard.press('Enter');
  await gallery.hasFocus(button(viewer, 'Close'));
  assert.match(await viewer.innerText(), /^1 of 13$/m);
  await page.keyboard.press('ArrowLeft');
  assert.match(await viewer.innerText(), /^1 of 13$/m);
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowRight');
  assert.match(await viewer.innerText(), /^3 of 13$/m);
  await page.keyboard.press('Escape');
  // The `close` event, which moves the focus, comes after the dialog has closed.
  await gallery.hasFocus(gallery.picture(2));
  assert.ok(await viewer.isHidden());
  // The picture's checkbox is next; arrow keys move between checkboxes as they do between pictures.
  await page.keyboard.press('Tab');
  await page.keyboard.press('Space');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('Space');
  assert.match(await gallery.selection.innerText(), /^2 selected/);
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await gallery.selection.waitFor({ state: 'hidden' });
  assert.equal(await focused(), ids[2]);
});

test('the photo in the viewer is zoomed by key and double click, and Escape shows all of it first', {}, async (gallery) => {
  const { page, viewer } = gallery;
  await gallery.show();
  await gallery.picture(0).click();
  await gallery.frame.waitForFunction(() => document.querySelector('.stage').dataset.state === 'loaded');
  const scale = () => viewer.locator('.stage img').evaluate((image) => new DOMMatrix(getComputedStyle(image).transform).a);
  await page.keyboard.press('z');
  assert.equal(await scale(), 2.5);
  await page.keyboard.press('ArrowRight');
  assert.match(await viewer.innerText(), /^1 of 13$/m);
  await page.keyboard.press('Escape');
  assert.equal(await scale(), 1);
  assert.ok(await viewer.isVisible());
  await viewer.locator('.stage img').dblclick();
  assert.equal(await scale(), 2.5);
  await button(viewer, 'Next photo').click();
  assert.match(await viewer.innerText(), /^2 of 13$/m);
  assert.equal(await scale(), 1);
});

test('the viewer shows the medium picture and its details', {}, async (gallery) => {
  await gallery.show({ endDate: '2016-01-01' });
  await gallery.picture(0).click();
  await gallery.frame.waitForFunction(() => document.querySelector('.stage').dataset.state === 'loaded');
  const picture = gallery.viewer.getByRole('img', { name: 'Photo: Madrid, Spain, 10 Apr 2015' });
  assert.match(await picture.getAttribute('src'), /\/webp-medium\.webp\?/);
  assert.ok((await picture.evaluate(({ naturalWidth }) => naturalWidth)) > 1000);
  const words = await gallery.viewer.innerText();
  assert.match(words, /Friday,? 10 April 2015.*\(UTC\+2\)/);
  assert.match(words, /Place\s+Madrid, Spain/);
  assert.match(words, /File\s+wisteria\.jpg/);
  await button(gallery.viewer, 'Open in the browser').click();
  await gallery.page.waitForFunction(() => window.host.seen.links.length === 1);
  assert.match((await gallery.seen('links'))[0], /\/webp-medium\.webp\?/);
  await gallery.viewer.getByRole('checkbox', { name: 'Select' }).check();
  await button(gallery.viewer, 'Close').click();
  assert.ok(await gallery.box(0).isChecked());
});

test('matches of a search are highlighted', {}, async (gallery) => {
  await gallery.show({ query: 'Berlin' });
  assert.equal(await gallery.heading.innerText(), '“Berlin”');
  await gallery.picture(0).click();
  const marks = gallery.viewer.locator('mark');
  assert.match((await marks.allInnerTexts()).join(), /Berlin/i);
});

/** An error of the library, with a message for people and another one for the model. */
const refused = (words) => ({
  isError: true,
  content: [{ type: 'text', text: 'imageIds: FOR THE MODEL. Correct this argument and call the tool again.' }],
  _meta: { 'photo-library/userMessage': words },
});

/** As HTML, this text would create elements and change the page's title. */
const html = '<img src=x onerror="document.title=1"><b>bold</b>';

/** Checks that these places show `html` as text, and that the page contains no element from it. */
async function showAsText(gallery, ...places) {
  for (const place of places) assert.ok((await place.innerText()).includes(html), await place.innerText());
  assert.equal(await gallery.frame.locator('b, img[src="x"]').count(), 0);
  assert.equal(await gallery.frame.title(), 'Photos');
}

test('texts of photos are never HTML', {}, async (gallery) => {
  await gallery.page.evaluate(
    ([tool, words]) =>
      window.host.show(tool, { query: 'Berlin .*(' }, (result) => {
        Object.assign(result.structuredContent, { results: result.structuredContent.results.slice(0, 1) });
        const [first = {}] = result.structuredContent.results;
        return Object.assign(first, { description: words, place: words, matchedText: `${words}.`, fileName: words }) && result;
      }),
    [TOOL, html],
  );
  const names = gallery.pictures.nth(0);
  await showAsText(gallery, names.locator('.caption span').last());
  assert.ok((await names.getByRole('img').getAttribute('alt')).includes(html));
  await gallery.picture(0).click();
  const facts = gallery.viewer.locator('dd');
  assert.equal(await facts.count(), 3);
  await showAsText(gallery, gallery.viewer.locator('.words'), facts.nth(0), facts.nth(1), facts.nth(2));
});

test('file names of photos that fail to load are never HTML', {}, async (gallery) => {
  await gallery.page.evaluate(
    ([tool, given, words]) =>
      window.host.show(tool, given, (result) => {
        const [first] = result.structuredContent.results;
        Object.assign(first, { url: undefined, renditions: {}, fileName: words });
        return result;
      }),
    [TOOL, gallery.whole(), html],
  );
  const lost = gallery.pictures.nth(0).locator('.lost');
  await lost.getByText('could not be loaded').waitFor();
  await showAsText(gallery, lost);
});

test('search words are never HTML', {}, async (gallery) => {
  await gallery.announce({ query: html });
  await gallery.heading.getByText('bold').waitFor();
  await showAsText(gallery, gallery.heading, gallery.frame.locator('#status'));
});

test('error messages of the library are never HTML', {}, async (gallery) => {
  const { state, notice, frame } = gallery;
  const refusal = refused(html);
  await gallery.give(refusal);
  await state.getByText('could not be shown').waitFor();
  await showAsText(gallery, state.locator('p'), frame.locator('#status'));
  await gallery.show({ limit: 5 });
  await gallery.page.evaluate((result) => window.host.put(() => result), refusal);
  await gallery.more.click();
  await notice.getByText('could not be loaded').waitFor();
  await showAsText(gallery, notice.locator('p'));
  await button(frame, 'Create album from these').click();
  await gallery.titleAlbum('Anything');
  const problem = gallery.albumDialog.getByRole('alert');
  await problem.filter({ hasText: /\S/ }).waitFor();
  await showAsText(gallery, problem);
});

test('titles of albums are never HTML', { owner: bob }, async (gallery) => {
  const title = `${html} ${someTitle()}`;
  await gallery.show({ limit: 100 });
  await gallery.more.click();
  await gallery.more.waitFor({ state: 'hidden' });
  await gallery.page.evaluate(
    (refusal) => window.host.put((params, call) => (params.name === 'update_album' ? refusal : call(params))),
    refused('Not now.'),
  );
  await button(gallery.frame, 'Create album from these').click();
  await gallery.albumDialog.getByLabel('Title').fill(title);
  await button(gallery.albumDialog, 'Create album').click();
  await button(gallery.albumDialog, 'Add the rest').waitFor();
  await showAsText(gallery, gallery.albumDialog.getByRole('alert'));
  await gallery.page.evaluate(() => window.host.put((params, call) => call(params)));
  await button(gallery.albumDialog, 'Add the rest').click();
  await gallery.notice.waitFor();
  await showAsText(gallery, gallery.notice.locator('p'), gallery.frame.locator('#status'));
});

test('a double click makes one album of all photos', {}, async (gallery) => {
  const title = someTitle();
  await gallery.show({ endDate: '2016-01-01' });
  const ids = await gallery.ids();
  await button(gallery.frame, 'Create album from these').click();
  await gallery.albumDialog.getByLabel('Title').fill(`  ${title} `);
  await button(gallery.albumDialog, 'Create album').dblclick();
  await gallery.notice.waitFor();
  const words = await gallery.notice.locator('p').innerText();
  assert.equal(words, `The album “${title}” was created with ${ids.length} photos.`);
  const calls = await gallery.seen('calls');
  assert.deepEqual(calls, [{ name: 'create_album', arguments: { title, imageIds: ids } }]);
  const { results } = await gallery.call('list_albums');
  const made = results.filter((album) => album.title === title);
  assert.deepEqual(made.map(({ imageCount }) => imageCount), [ids.length]);
  await button(gallery.notice, 'Dismiss this message').click();
  await gallery.notice.waitFor({ state: 'hidden' });
});

test('an album of the selected photos is made, and the model gets an update', {}, async (gallery) => {
  const title = someTitle();
  await gallery.show();
  const ids = await gallery.ids();
  await gallery.select(1, 4);
  const isInContext = async (pattern) => {
    await gallery.page.waitForFunction(
      (source) => new RegExp(source).test(window.host.seen.contexts.at(-1)?.join('\n')),
      pattern.source,
    );
  };
  await isInContext(new RegExp(`selected these images: ${ids[1]}, ${ids[4]}\\.`));
  await button(gallery.selection, 'Create album').click();
  await gallery.hasFocus(gallery.albumDialog.getByLabel('Title'));
  await gallery.page.keyboard.type(title);
  await gallery.page.keyboard.press('Enter');
  await isInContext(new RegExp(`created the album “${title}” \\(id `));
  await gallery.selection.waitFor({ state: 'hidden' });
  const { results } = await gallery.call('list_albums');
  const { id } = results.find((album) => album.title === title);
  await gallery.show({ albumId: id });
  assert.deepEqual(await gallery.ids(), [ids[1], ids[4]]);
});

test('the shift key selects a range', {}, async (gallery) => {
  await gallery.show();
  await gallery.box(1).click();
  await gallery.box(5).click({ modifiers: ['Shift'] });
  assert.match(await gallery.selection.innerText(), /^5 selected/);
});

test('a missing or too long title is refused', {}, async (gallery) => {
  await gallery.show({ limit: 2 });
  await button(gallery.frame, 'Create album from these').click();
  const { albumDialog } = gallery;
  const title = albumDialog.getByLabel('Title');
  const problem = albumDialog.getByRole('alert');
  await button(albumDialog, 'Create album').click();
  assert.equal(await problem.innerText(), 'Enter a title.');
  assert.equal(await title.getAttribute('aria-invalid'), 'true');
  await title.fill('🌷'.repeat(101));
  await gallery.press(title, 'Enter');
  assert.equal(await problem.innerText(), 'The title has 101 characters. Shorten it to 100 or fewer.');
  await title.fill('🌷'.repeat(100));
  assert.equal(await problem.innerText(), '');
  await button(albumDialog, 'Cancel').click();
  assert.deepEqual(await gallery.seen('calls'), []);
});

test('an error of the library is shown in words for people', {}, async (gallery) => {
  await gallery.show({ limit: 2 });
  await gallery.page.evaluate(() =>
    window.host.put((params, call) => call({ ...params, arguments: { ...params.arguments, imageIds: ['nobody'] } })),
  );
  await button(gallery.frame, 'Create album from these').click();
  await gallery.titleAlbum('Anything');
  const problem = gallery.albumDialog.getByRole('alert');
  await problem.filter({ hasText: /\S/ }).waitFor();
  assert.equal(
    await problem.innerText(),
    'Some of these photos are no longer in your library, so nothing was changed. Ask the assistant to show the photos again, then try again.',
  );
  await gallery.page.evaluate(() => window.host.put((params, call) => call(params)));
  await button(gallery.albumDialog, 'Create album').click();
  await gallery.notice.waitFor();
});

test('an album larger than one call continues after an error', { owner: bob }, async (gallery) => {
  const title = someTitle();
  await gallery.show({ limit: 100 });
  await gallery.more.click();
  await gallery.more.waitFor({ state: 'hidden' });
  assert.equal(new Set(await gallery.ids()).size, MANY);
  await gallery.page.evaluate(
    (refusal) => window.host.put((params, call) => (params.name === 'update_album' ? refusal : call(params))),
    refused('The library is closed for a moment.'),
  );
  await button(gallery.frame, 'Create album from these').click();
  await gallery.albumDialog.getByLabel('Title').fill(title);
  await button(gallery.albumDialog, 'Create album').click();
  await button(gallery.albumDialog, 'Add the rest').waitFor();
  assert.equal(
    await gallery.albumDialog.getByRole('alert').innerText(),
    `The album “${title}” contains the first 100 photos. The others could not be added. The library is closed for a moment.`,
  );
  await gallery.page.evaluate(() => window.host.put((params, call) => call(params)));
  await button(gallery.albumDialog, 'Add the rest').click();
  await gallery.notice.waitFor();
  assert.match(await gallery.notice.innerText(), /was created with 104 photos\./);
  const names = (await gallery.seen('calls')).map(({ name }) => name);
  assert.deepEqual(names, [TOOL, 'create_album', 'update_album', 'update_album']);
  const { results } = await gallery.call('list_albums');
  const made = results.filter((album) => album.title === title);
  assert.deepEqual(made.map(({ imageCount }) => imageCount), [MANY]);
});

test('pages load until the last one', {}, async (gallery) => {
  const { results } = await gallery.call(TOOL, gallery.whole());
  await gallery.show({ limit: 5 });
  assert.match(await gallery.summary.innerText(), /^The first 5 photos/);
  for (let pages = 0; (await gallery.more.isVisible()) && pages < 9; pages += 1) {
    const before = await gallery.pictures.count();
    await gallery.more.click();
    await gallery.frame.waitForFunction((count) => {
      const isLast = document.querySelector('#more').hidden;
      return isLast || document.querySelectorAll('#grid > li').length > count;
    }, before);
  }
  assert.deepEqual(await gallery.ids(), results.map(({ id }) => id));
  assert.match(await gallery.summary.innerText(), /^13 photos/);
});

test('a result without an announced call has no further pages', {}, async (gallery) => {
  await gallery.show({ limit: 5 });
  await gallery.more.waitFor();
  const structuredContent = await gallery.call(TOOL, gallery.whole({ limit: 6 }));
  await gallery.give({ content: [], structuredContent });
  await gallery.pictures.nth(5).waitFor();
  assert.match(await gallery.summary.innerText(), /^6 photos/);
  assert.ok(await gallery.more.isHidden());
});

test('an empty list of ids beside a search is ignored', { owner: bob }, async (gallery) => {
  await gallery.show({ query: 'png', limit: 2, imageIds: [] });
  await gallery.more.click();
  await gallery.pictures.nth(3).waitFor();
});

test('the viewer continues on the next page', {}, async (gallery) => {
  await gallery.show({ limit: 2 });
  await gallery.picture(1).click();
  assert.match(await gallery.viewer.innerText(), /^2 of the first 2$/m);
  await gallery.hasFocus(button(gallery.viewer, 'Close'));
  await gallery.page.keyboard.press('ArrowRight');
  await gallery.viewer.getByText('3 of the first 3').waitFor();
});

test('more results of a search extend the list', { owner: bob }, async (gallery) => {
  await gallery.show({ query: 'png', limit: 2 });
  const first = await gallery.ids();
  await gallery.more.click();
  await gallery.pictures.nth(2).waitFor();
  const ids = await gallery.ids();
  assert.deepEqual(ids.slice(0, 2), first);
  assert.equal(new Set(ids).size, ids.length);
  assert.deepEqual((await gallery.seen('calls'))[0].arguments, { query: 'png', limit: 4 });
});

test('a page that fails to load shows an error and can be retried', {}, async (gallery) => {
  await gallery.show({ limit: 5 });
  await gallery.page.evaluate((refusal) => window.host.put(() => refusal), refused('Try again in a minute.'));
  await gallery.more.click();
  await gallery.notice.getByText('More photos could not be loaded. Try again in a minute.').waitFor();
  await gallery.page.evaluate(() => window.host.put((params, call) => call(params)));
  await button(gallery.notice, 'Try again').click();
  await gallery.pictures.nth(5).waitFor();
  await gallery.notice.waitFor({ state: 'hidden' });
});

/** Shows photos with expired URLs and the given expiry. */
function showExpired(gallery, urlsExpireAt, args = {}) {
  return gallery.page.evaluate(
    ([tool, given, end]) =>
      window.host.show(tool, given, (result) => {
        const words = JSON.stringify(result.structuredContent).replaceAll(/exp=\d+/g, 'exp=1700000000');
        return { ...result, structuredContent: { ...JSON.parse(words), urlsExpireAt: end } };
      }),
    [TOOL, gallery.whole(args), urlsExpireAt],
  );
}

test('expired URLs are renewed before they are used', {}, async (gallery) => {
  await showExpired(gallery, '2023-11-14T22:13:20.000Z');
  await gallery.arePainted(SAMPLES);
  const calls = await gallery.seen('calls');
  assert.deepEqual(calls, [{ name: TOOL, arguments: { imageIds: await gallery.ids() } }]);
  for (const url of gallery.asked) assert.ok(!url.includes('exp=1700000000'), url);
});

test('URLs that expired earlier than announced are renewed', {}, async (gallery) => {
  await showExpired(gallery, new Date(Date.now() + 10 * 60_000).toISOString());
  await gallery.arePainted(SAMPLES);
  assert.equal((await gallery.seen('calls')).length, 1);
  assert.ok(gallery.asked.some((url) => url.includes('exp=1700000000')), gallery.asked.join());
});

/** Shows photos whose URLs expire after this time. */
function showExpiring(gallery, milliseconds, args = {}) {
  return gallery.page.evaluate(
    ([tool, given, end]) =>
      window.host.show(tool, given, (result) => {
        const urlsExpireAt = new Date(Date.now() + end).toISOString();
        return { ...result, structuredContent: { ...result.structuredContent, urlsExpireAt } };
      }),
    [TOOL, gallery.whole(args), milliseconds],
  );
}

test('URLs are renewed shortly before they expire, and nothing else changes', { owner: bob }, async (gallery) => {
  await gallery.page.clock.install();
  await showExpiring(gallery, 10 * 60_000, { limit: 100 });
  await gallery.more.click();
  await gallery.pictures.nth(MANY - 1).waitFor();
  await gallery.select(40, 41);
  await gallery.box(41).focus();
  const before = await gallery.frame.evaluate(() => window.scrollY);
  assert.ok(before > 100);
  await gallery.page.clock.fastForward('09:30');
  // One call for the second page, then two that renew the URLs of both pages.
  await gallery.hasCalled(3);
  const calls = await gallery.seen('calls');
  const ids = await gallery.ids();
  const renewed = calls.slice(1).map((call) => call.arguments.imageIds);
  assert.deepEqual(renewed.map(({ length }) => length), [100, MANY - 100]);
  assert.deepEqual(renewed.flat().toSorted(), ids.toSorted());
  assert.ok(renewed[0].includes(ids[40]) && renewed[0].includes(ids[41]));
  assert.equal(await gallery.frame.evaluate(() => window.scrollY), before);
  assert.ok(await gallery.box(41).evaluate((box) => box === document.activeElement));
  assert.match(await gallery.selection.innerText(), /^2 selected/);
  await gallery.pictures.nth(MANY - 1).scrollIntoViewIfNeeded();
  await gallery.arePainted(MANY);
});

test('a deleted photo is shown as deleted', { owner: eve }, async (gallery, { service }) => {
  await gallery.show();
  await gallery.arePainted(3);
  const [, deleted] = await gallery.ids();
  const headers = { authorization: `Bearer ${eve.key}` };
  const structuredContent = await gallery.call(TOOL, gallery.whole());
  const answer = await service.fetch(`/api/ext/v2/images/${deleted}`, { method: 'DELETE', headers });
  assert.equal(answer.status, 204);
  // The app gets the same result later, when the conversation is opened again: its URLs have expired.
  structuredContent.urlsExpireAt = '2023-11-14T22:13:20.000Z';
  await gallery.give({ content: [], structuredContent });
  await gallery.pictures.nth(1).getByText('no longer in the library').waitFor();
  assert.equal(await gallery.pictures.count(), 3);
  for (const place of [0, 2]) await gallery.pictures.nth(place).and(gallery.frame.locator('[data-state="loaded"]')).waitFor();
  // The deleted photo can be opened, but not selected.
  const left = (await gallery.ids()).filter((id) => id !== deleted);
  assert.deepEqual((await gallery.seen('calls')).map((call) => call.arguments.imageIds.length), [3, 2]);
  assert.equal(await gallery.frame.getByRole('checkbox').count(), 2);
  await gallery.box(0).click();
  await gallery.box(2).click({ modifiers: ['Shift'] });
  assert.match(await gallery.selection.innerText(), /^2 selected/);
  await gallery.picture(1).click();
  await gallery.viewer.getByText('This photo is no longer in your library.').waitFor();
  assert.equal(await gallery.viewer.getByRole('checkbox').count(), 0);
  assert.equal(await button(gallery.viewer, 'Open in the browser').count(), 0);
  await gallery.press(button(gallery.viewer, 'Close'), 'Escape');
  const titles = [someTitle(), someTitle()];
  for (const [place, name] of [[gallery.frame, 'Create album from these'], [gallery.selection, 'Create album']]) {
    await button(place, name).click();
    await gallery.titleAlbum(titles.shift());
    await gallery.notice.getByText('was created with 2 photos.').waitFor();
    assert.deepEqual((await gallery.seen('calls')).at(-1).arguments.imageIds, left);
    if (titles.length) await gallery.box(0).click();
    if (titles.length) await gallery.box(2).click();
  }
});

test('a photo deleted while it is shown leaves the selection', { owner: fay }, async (gallery, { service }) => {
  await gallery.page.clock.install();
  await gallery.show();
  await gallery.arePainted(4);
  await gallery.select(1, 2);
  const [, deleted] = await gallery.ids();
  const headers = { authorization: `Bearer ${fay.key}` };
  const answer = await service.fetch(`/api/ext/v2/images/${deleted}`, { method: 'DELETE', headers });
  assert.equal(answer.status, 204);
  await gallery.box(1).focus();
  await gallery.page.clock.fastForward('14:30');
  await gallery.pictures.nth(1).getByText('no longer in the library').waitFor();
  assert.match(await gallery.selection.innerText(), /^1 selected/);
  assert.ok(await gallery.picture(1).evaluate((it) => it === document.activeElement));
  // Later renewals do not request the deleted photo.
  await gallery.hasCalled(2);
  await gallery.page.clock.fastForward('14:30');
  await gallery.hasCalled(3);
  const counts = (await gallery.seen('calls')).map((call) => call.arguments.imageIds.length);
  assert.deepEqual(counts, [4, 3, 3]);
});

/**
 * Holds every request for a picture. Returns a function that waits for a number of requests and fails them 25 seconds later.
 * That function returns another one, which checks that no request is left.
 */
async function failSlowly({ page }, watch) {
  const held = [];
  let arrived = () => {};
  await page.route('**/i/**', (route) => {
    held.push(route);
    arrived();
  });
  return async (count) => {
    while (held.length < count) await new Promise((resolve) => (arrived = resolve));
    await page.clock.fastForward('00:25');
    for (const route of held.splice(0, count)) {
      await route.abort();
      await watch.takes(/^console: Failed to load resource/);
    }
    return () => assert.equal(held.length, 0);
  };
}

test('a picture that fails slowly is requested with new URLs once', {}, async (gallery, { watch }) => {
  const { page, frame, viewer } = gallery;
  await page.clock.install();
  const fail = await failSlowly(gallery, watch);
  // These URLs expire at another time than the new ones, so that they differ even if both are made in the same second.
  await showExpired(gallery, new Date(Date.now() + 12 * 60_000).toISOString(), { limit: FEW });
  await fail(FEW);
  // Fails the requests of the new URLs.
  const assertNoneLeft = await fail(FEW);
  await frame.waitForFunction(
    (count) => document.querySelectorAll('#grid > li[data-state="failed"]').length === count,
    FEW,
  );
  for (let minutes = 0; minutes < 3; minutes += 1) {
    await page.clock.fastForward('00:25');
    await gallery.settled();
    assertNoneLeft();
  }
  assert.equal((await gallery.seen('calls')).length, 1);
  // The viewer behaves the same way: it requests the thumbnail and the medium picture.
  await gallery.picture(0).click();
  await fail(2);
  await viewer.getByText('This photo could not be loaded.').waitFor();
  await page.clock.fastForward('00:25');
  await gallery.settled();
  assertNoneLeft();
  assert.equal((await gallery.seen('calls')).length, 1);
});

test('a clock far behind triggers no renewal', {}, async (gallery) => {
  await gallery.page.clock.install();
  await showExpiring(gallery, 40 * 24 * 60 * 60_000);
  await gallery.arePainted(SAMPLES);
  await gallery.settled();
  assert.deepEqual(await gallery.seen('calls'), []);
  // The app assumes the usual lifetime of URLs instead.
  await gallery.page.clock.fastForward('13:30');
  await gallery.page.waitForFunction(() => window.host.seen.calls.length === 1);
});

test('an unused page stops after four renewals, until the next result', {}, async (gallery) => {
  const { page } = gallery;
  await page.clock.install();
  await gallery.show();
  await gallery.arePainted(SAMPLES);
  const renewals = async (count) => {
    await page.clock.fastForward('14:30');
    await gallery.hasCalled(count);
    assert.equal((await gallery.seen('calls')).length, count);
  };
  for (const count of [1, 2, 3, 4, 4]) await renewals(count);
  await showExpired(gallery, '2023-11-14T22:13:20.000Z');
  await gallery.arePainted(SAMPLES);
  assert.equal((await gallery.seen('calls')).length, 5);
});

test('a retry requests only missing URLs', { owner: bob }, async (gallery) => {
  await gallery.page.clock.install();
  await gallery.show({ limit: 100 });
  // Photos that have not loaded come first, wherever they are.
  await gallery.frame.waitForFunction(() =>
    [...document.querySelectorAll('#grid img')].slice(0, 12).every(({ complete, naturalWidth }) => complete && naturalWidth > 0),
  );
  await gallery.more.click();
  await gallery.more.waitFor({ state: 'hidden' });
  await gallery.pictures.nth(MANY - 1).scrollIntoViewIfNeeded();
  await gallery.arePainted(MANY);
  await gallery.page.evaluate(() => {
    let calls = 0;
    window.host.put((params, call) => {
      calls += 1;
      return calls === 2 ? { isError: true, content: [] } : call(params);
    });
  });
  await gallery.page.clock.fastForward('14:30');
  // The third call fails and is retried a second later.
  await gallery.hasCalled(3);
  await gallery.page.clock.fastForward('00:01');
  await gallery.hasCalled(4);
  const asked = (await gallery.seen('calls')).slice(1).map((call) => call.arguments.imageIds);
  assert.deepEqual(asked.map(({ length }) => length), [100, 4, 4]);
  assert.deepEqual(asked[1], asked[2]);
  // Photos far from the visible ones come last.
  const first = (await gallery.ids()).slice(0, 12);
  assert.ok(asked[1].every((id) => first.includes(id)), asked[1].join());
  await gallery.page.clock.fastForward('05:00');
  await gallery.settled();
  assert.equal((await gallery.seen('calls')).length, 4);
});

test('a failed renewal is retried, then shown and can be retried', {}, async (gallery) => {
  await gallery.page.clock.install();
  await gallery.page.evaluate((refusal) => window.host.put(() => refusal), refused('The library is closed for a moment.'));
  await showExpired(gallery, '2023-11-14T22:13:20.000Z');
  // The app retries after 1, 3 and 8 seconds.
  for (const [calls, pause] of [[1, '00:01'], [2, '00:03'], [3, '00:08']]) {
    await gallery.hasCalled(calls);
    await gallery.page.clock.fastForward(pause);
  }
  await gallery.notice.getByText('Some photos may not load. The library is closed for a moment.').waitFor();
  assert.equal((await gallery.seen('calls')).length, 4);
  await gallery.page.evaluate(() => window.host.put((params, call) => call(params)));
  await button(gallery.notice, 'Try again').click();
  await gallery.arePainted(SAMPLES);
  await gallery.notice.waitFor({ state: 'hidden' });
});

test('an error of the tool is shown in words for people and can be retried', {}, async (gallery) => {
  const result = await gallery.show({ startDate: 'yesterday' });
  assert.ok(result.isError);
  await gallery.state.getByRole('heading', { name: 'The photos could not be shown' }).waitFor();
  const words = await gallery.state.locator('p').innerText();
  assert.equal(words, 'The photo library could not read this request. Ask the assistant to try again.');
  assert.equal(words, result._meta['photo-library/userMessage']);
  await gallery.page.evaluate(() =>
    window.host.put((params, call) => call({ ...params, arguments: { albumId: params.arguments.albumId } })),
  );
  await button(gallery.state, 'Try again').click();
  await gallery.arePainted(SAMPLES);
  await gallery.state.waitFor({ state: 'hidden' });
});

test('a running, stopped or empty search is shown as such', {}, async (gallery) => {
  const { page, frame, state } = gallery;
  await page.evaluate(() => window.host.bridge().sendToolInputPartial({ arguments: { query: 'tul' } }));
  await frame.getByRole('heading', { name: '“tul”' }).waitFor();
  await gallery.announce({ query: 'tulips' });
  await frame.getByText('Searching for “tulips”…').waitFor();
  assert.equal(await frame.locator('main').getAttribute('aria-busy'), 'true');
  await page.evaluate(() => window.host.bridge().sendToolCancelled({ reason: 'you pressed stop' }));
  await state.getByText('The assistant stopped before any photos were loaded.').waitFor();
  assert.ok(!(await state.innerText()).includes('you pressed stop'), 'the reason that the host gives is not shown');
  assert.equal(await frame.locator('main').getAttribute('aria-busy'), 'false');
  await gallery.show({ startDate: '1990-01-01', endDate: '1990-12-31' });
  await state.getByRole('heading', { name: 'No photos' }).waitFor();
  await state.getByText('No photos in your library match. Try other words, another place or other dates.').waitFor();
});

test('an empty album is shown as empty', {}, async (gallery) => {
  const { result } = await gallery.call('create_album', { title: someTitle() });
  await gallery.show({ albumId: result.id });
  await gallery.state.getByText('This album has no photos.').waitFor();
});

/** Shows photos with changed records: `changes` has the new members of each. */
function showChanged(gallery, changes) {
  return gallery.page.evaluate(
    ([tool, given, members]) =>
      window.host.show(tool, given, (result) => {
        const records = result.structuredContent.results.slice(0, members.length);
        result.structuredContent.results = records.map((record, place) => ({ ...record, ...members[place] }));
        return result;
      }),
    [TOOL, gallery.whole(), changes],
  );
}

test('times are local to the place of the photo', {}, async (gallery) => {
  const capturedAt = '2021-07-12T21:33:00.000Z';
  const cases = [
    ['+03:00', '13 Jul 2021', /13 July 2021.*00:33 \(UTC\+3\)/],
    ['-03:30', '12 Jul 2021', /12 July 2021.*18:03 \(UTC−3:30\)/],
    ['+05:45', '13 Jul 2021', /13 July 2021.*03:18 \(UTC\+5:45\)/],
    ['+00:00', '12 Jul 2021', /12 July 2021.*21:33 \(UTC\+0\)/],
    // Unknown: the time is in UTC and marked as such.
    [null, '12 Jul 2021', /12 July 2021.*21:33 \(UTC\)/],
    ['yesterday', '12 Jul 2021', /12 July 2021.*21:33 \(UTC\)/],
  ];
  await showChanged(gallery, cases.map(([utcOffset]) => ({ utcOffset, capturedAt })));
  for (const [place, [offset, day, moment]] of cases.entries()) {
    const caption = gallery.pictures.nth(place).locator('.caption span').first();
    assert.equal(await caption.innerText(), day, `${offset}`);
    await gallery.picture(place).click();
    assert.match(await gallery.viewer.getByRole('heading').innerText(), moment, `${offset}`);
    await gallery.press(button(gallery.viewer, 'Close'), 'Escape');
  }
  assert.match(await gallery.summary.innerText(), /^6 photos · 12\s?–\s?13 Jul 2021$/);
});

test('times are formatted in the language of the host', { context: { locale: 'en-US' } }, async (gallery) => {
  await showChanged(gallery, [{ utcOffset: '-04:00', capturedAt: '2021-07-12T22:03:00.000Z' }]);
  await gallery.picture(0).click();
  assert.match(await gallery.viewer.getByRole('heading').innerText(), /^Monday, July 12, 2021.* 6:03\sPM \(UTC−4\)$/);
});

test('a search without a vision model has a note, also without results', {}, async (gallery) => {
  const words = /^The search matched only colours, light and words, not what the photos show\./;
  await gallery.show();
  assert.ok(await gallery.note.isHidden());
  await gallery.show({ query: 'Berlin' });
  assert.match(await gallery.note.innerText(), words);
  await gallery.show({ query: 'a walrus on a bicycle' });
  await gallery.state.waitFor();
  assert.match(await gallery.note.innerText(), words);
  await gallery.show({ query: 'Berlin', channels: ['text'] });
  assert.ok(await gallery.note.isHidden());
});

test('a lost connection is shown in words for people', {}, async (gallery) => {
  await gallery.show({ limit: 5 });
  await gallery.page.evaluate(() => window.host.put(() => Promise.reject(new Error('fetch failed: ECONNRESET (-32000)'))));
  await gallery.more.click();
  await gallery.notice.getByText('More photos could not be loaded. The photo library could not be reached.').waitFor();
  await button(gallery.frame, 'Create album from these').click();
  await gallery.titleAlbum('Anything');
  const problem = gallery.albumDialog.getByRole('alert');
  await problem.filter({ hasText: /\S/ }).waitFor();
  for (const place of [gallery.notice, problem]) assert.doesNotMatch(await place.innerText(), /fetch|ECONN|-32000/);
});

test('without tool calls in the host, the app calls none', { capabilities: {} }, async (gallery) => {
  await gallery.show({ limit: 5 });
  await gallery.arePainted(5);
  await gallery.picture(4).click();
  assert.match(await gallery.viewer.innerText(), /^5 of 5$/m);
  await gallery.hasFocus(button(gallery.viewer, 'Close'));
  await gallery.page.keyboard.press('ArrowRight');
  await gallery.page.keyboard.press('Escape');
  for (const name of ['Create album from these', 'Show more', 'Open in the browser']) {
    assert.equal(await gallery.frame.getByRole('button', { name }).count(), 0, name);
  }
  assert.equal(await gallery.frame.getByRole('checkbox').count(), 0);
  assert.deepEqual(await gallery.seen('calls'), []);
});

test('the resource without albums has an app without albums', { resource: '/api/mcp/legacy' }, async (gallery) => {
  await gallery.show({ limit: 5 });
  await gallery.arePainted(5);
  await gallery.select(0);
  assert.match(await gallery.selection.innerText(), /^1 selected/);
  assert.equal(await gallery.frame.getByRole('button', { name: /album/ }).count(), 0);
});

test('the app reads results that are only text', { resource: '/api/mcp/v1' }, async (gallery) => {
  const title = someTitle();
  await gallery.show({ limit: 5 });
  await gallery.arePainted(5);
  await button(gallery.frame, 'Create album from these').click();
  await gallery.titleAlbum(title);
  await gallery.notice.getByText(`The album “${title}” was created with 5 photos.`).waitFor();
});

test('the app follows the theme and the styles of its host', {}, async (gallery) => {
  await gallery.show({ limit: 2 });
  const paper = () => gallery.frame.evaluate(() => getComputedStyle(document.body).backgroundColor);
  assert.equal(await paper(), 'rgb(255, 255, 255)');
  await gallery.page.evaluate(() => window.host.theme('dark'));
  await gallery.frame.waitForFunction(() => getComputedStyle(document.body).backgroundColor === 'rgb(23, 28, 31)');
  const variables = { '--color-background-primary': 'light-dark(rgb(1, 2, 3), rgb(4, 5, 6))', '--font-sans': 'serif' };
  await gallery.page.evaluate(
    (given) => window.host.bridge().sendHostContextChange({ styles: { variables: given, css: { fonts: '/* none */' } } }),
    variables,
  );
  await gallery.frame.waitForFunction(() => getComputedStyle(document.body).backgroundColor === 'rgb(4, 5, 6)');
  assert.equal(await gallery.frame.evaluate(() => getComputedStyle(document.body).fontFamily), 'serif');
});

test('without a theme of the host, the app follows the system', { context: { theme: undefined } }, async (gallery) => {
  const paper = () => gallery.frame.evaluate(() => getComputedStyle(document.body).backgroundColor);
  await gallery.page.emulateMedia({ colorScheme: 'dark' });
  assert.equal(await paper(), 'rgb(23, 28, 31)');
  await gallery.page.emulateMedia({ colorScheme: 'light' });
  assert.equal(await paper(), 'rgb(255, 255, 255)');
});

test('dates are formatted in the language of the host', { context: { locale: 'de-DE' } }, async (gallery) => {
  await gallery.show({ endDate: '2016-01-01' });
  assert.equal(await gallery.pictures.nth(0).locator('.caption span').first().innerText(), '10.04.2015');
});

test('the app reports the height that it needs', {}, async (gallery) => {
  const { page, frame } = gallery;
  const isReported = (height) => page.waitForFunction((expected) => window.host.seen.sizes.at(-1)?.height === expected, height);
  await gallery.show({ limit: 1 });
  await gallery.arePainted(1);
  // The frame is as high as its content, without scrolling.
  const fits = await frame.waitForFunction(() => {
    const { scrollHeight } = document.documentElement;
    const content = Math.ceil(document.querySelector('main').getBoundingClientRect().height);
    return window.innerHeight === content && scrollHeight <= content && content;
  });
  const height = await fits.jsonValue();
  assert.ok(height > 150 && height < 500, `${height}`);
  await isReported(height);
  await gallery.picture(0).click();
  await isReported(560);
  await gallery.press(button(gallery.viewer, 'Close'), 'Escape');
  await isReported(height);
  await gallery.show();
  await gallery.arePainted(SAMPLES);
  await isReported(720);
  const sizes = await gallery.seen('sizes');
  assert.ok(sizes.length < 12, JSON.stringify(sizes));
});

test('the app respects the maximum height of the host', { context: { containerDimensions: { maxHeight: 400 } } }, async (gallery) => {
  await gallery.show();
  await gallery.arePainted(SAMPLES);
  await gallery.page.waitForFunction(() => window.host.seen.sizes.at(-1)?.height === 400);
});

test('the app switches to full screen and back', {}, async (gallery) => {
  await gallery.show();
  await button(gallery.frame, 'Full screen').click();
  await button(gallery.frame, 'Exit full screen').click();
  await button(gallery.frame, 'Full screen').waitFor();
  assert.deepEqual(await gallery.seen('modes'), ['fullscreen', 'inline']);
});

test('the bridge replies to known requests and ignores messages not from the host', {}, async (gallery) => {
  const answers = await gallery.page.evaluate(async () => {
    const app = document.querySelector('iframe').contentWindow;
    const ask = (id, method) => {
      const answer = new Promise((resolve) => {
        window.addEventListener('message', ({ data }) => data.id === id && !data.method && resolve(data));
      });
      app.postMessage({ jsonrpc: '2.0', id, method, params: {} }, '*');
      return answer;
    };
    return [await ask('a', 'ping'), await ask('b', 'tools/dance'), await ask('c', 'ui/resource-teardown')];
  });
  assert.deepEqual(answers[0].result, {});
  assert.equal(answers[1].error.code, -32601);
  assert.deepEqual(answers[2].result, {});
  await gallery.show({ limit: 2 });
  await gallery.frame.evaluate(async () => {
    const message = { jsonrpc: '2.0', method: 'ui/notifications/tool-cancelled', params: {} };
    const received = new Promise((resolve) => window.addEventListener('message', resolve, { once: true }));
    window.postMessage(message, '*');
    await received;
  });
  assert.ok(await gallery.state.isHidden());
});
