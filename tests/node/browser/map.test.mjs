// The map: with JavaScript it moves, without it its links lead to other views.

import assert from 'node:assert/strict';
import { World } from './support/harness.mjs';
import { faultsOfKeyboard } from './support/judge.mjs';
import { importPlaces } from './support/places.mjs';

const world = await World.forTests();
const LISBON = [38.7223, -9.1393];
const PLACES = [LISBON, LISBON, LISBON, [41.15, -8.61], [48.8566, 2.3522], [48.86, 2.36], [-17, 179.95], [-16.8, -179.9]];

const person = await world.newAccount();
await importPlaces(world.service, person, PLACES);

const cluster = (page, name) => page.locator('#clusters').getByRole('link', { name });
const query = (page) => new URL(page.url()).searchParams;

/** Waits until the address has changed and returns its parameters. */
async function moved(page, before) {
  await page.waitForFunction((old) => location.href !== old, before);
  return query(page);
}

world.flow('the photos of a place are a few clicks away', async (visit) => {
  const { page } = visit;
  await visit.signIn(person, '/map');
  await page.locator('#photos li').nth(7).waitFor();
  // The views: Portugal and France, Portugal, Lisbon, then the photos in Lisbon.
  const zooms = [];
  for (let clicks = 0; clicks < 4 && !query(page).has('bbox'); clicks += 1) {
    const before = page.url();
    await cluster(page, /photos? near (Lisbon|Porto|Paris)/).first().click();
    await moved(page, before);
    zooms.push(query(page).get('z'));
  }
  assert.ok(query(page).has('bbox'), `${zooms} ${page.url()}`);
  await page.getByRole('heading', { name: 'Photos of this place' }).waitFor();
  assert.ok((await page.locator('#photos li').count()) <= 3);
  await page.goBack();
  await page.getByRole('heading', { name: 'Photos on this map' }).waitFor();
});

world.flow('the links of the map move it', async (visit) => {
  const { page } = visit;
  await visit.signIn(person, '/map?z=5&lat=40&lon=-5');
  const zoom = Number(query(page).get('z'));
  const before = page.url();
  await page.getByRole('link', { name: 'Zoom in' }).click();
  assert.ok(Number((await moved(page, before)).get('z')) > zoom);
  const closer = page.url();
  await page.getByRole('link', { name: 'All photos', exact: true }).click();
  await moved(page, closer);
  await cluster(page, /near Lisbon/).waitFor();
});

world.test('the map is dragged, zoomed by wheel and moved by keys', {}, async (visit) => {
  const { page } = visit;
  await visit.signIn(person, '/map?z=5&lat=40&lon=-5');
  await page.locator('#map.moves').waitFor();
  const box = await page.locator('#map').boundingBox();
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x - 80, y, { steps: 5 });
  await page.mouse.up();
  let before = page.url();
  let parameters = await moved(page, before);
  assert.ok(Number(parameters.get('lon')) > -5, 'the map moved east');
  const zoom = Number(parameters.get('z'));
  before = page.url();
  await page.mouse.wheel(0, -300);
  parameters = await moved(page, before);
  assert.ok(Number(parameters.get('z')) > zoom + 0.5, `${zoom} ${parameters}`);
  await page.getByRole('link', { name: 'Zoom in' }).focus();
  before = page.url();
  const latitude = Number(parameters.get('lat'));
  await page.keyboard.press('ArrowUp');
  parameters = await moved(page, before);
  assert.ok(Number(parameters.get('lat')) > latitude);
  before = page.url();
  await page.keyboard.press('-');
  parameters = await moved(page, before);
  await page.reload();
  await page.locator('#map.moves').waitFor();
});

/** The names on the map, and the pairs of them that overlap. */
const names = (page) =>
  page.locator('#ground text').evaluateAll((texts) => {
    const all = texts.map((text) => ({ name: text.textContent, box: text.getBoundingClientRect(), size: Number.parseFloat(getComputedStyle(text).fontSize) }));
    const overlap = ({ box: a }, { box: b }) => a.left < b.right && b.left < a.right && a.top < b.bottom - 2 && b.top < a.bottom - 2;
    const pairs = all.flatMap((one, index) => all.slice(index + 1).filter((other) => overlap(one, other)).map((other) => `${one.name}, ${other.name}`));
    return { sizes: Object.fromEntries(all.map(({ name, size }) => [name, size])), pairs };
  });

world.flow('a close view has shores, towns and names', async (visit) => {
  const { page } = visit;
  await visit.signIn(person, '/map?z=4&lat=47&lon=4');
  const far = await names(page);
  assert.ok(far.sizes.France && far.sizes.Germany, Object.keys(far.sizes).join());
  assert.deepEqual(far.pairs, []);
  await visit.open('/map?z=9&lat=48.8&lon=2.4');
  const close = await names(page);
  const { Paris, ...others } = close.sizes;
  assert.ok(Object.keys(others).length > 10 && Object.keys(others).length < 40, Object.keys(others).join());
  assert.ok(!Paris || Object.values(others).every((size) => size <= Paris));
  assert.deepEqual(close.pairs, []);
  for (const [place, shown] of [
    ['z=9&lat=48.8&lon=2.4', ['land', 'town', 'river', 'region']],
    ['z=11&lat=46.45&lon=6.5', ['land', 'lake', 'border']],
    ['z=16&lat=48.857&lon=2.352', ['land', 'town']],
  ]) {
    await visit.open(`/map?${place}`);
    const drawn = await page.locator('#ground path').evaluateAll((paths) => paths.filter((path) => path.getAttribute('d')).map((path) => path.classList[0]));
    for (const layer of shown) assert.ok(drawn.includes(layer), `${place}: ${drawn}`);
  }
});

for (const reducedMotion of ['reduce', 'no-preference']) {
  world.test(`a new ground fades in, motion ${reducedMotion}`, { reducedMotion }, async (visit) => {
    const { page } = visit;
    await visit.signIn(person, '/map?z=5&lat=40&lon=-5');
    await page.locator('#map.moves').waitFor();
    await page.evaluate(() => {
      const old = document.getElementById('old');
      window.faded = [];
      const see = () => old.firstChild && window.faded.push([getComputedStyle(old.firstChild).animationName, document.querySelectorAll('#shape').length]);
      new MutationObserver(see).observe(old, { childList: true });
    });
    for (let clicks = 0; clicks < 2; clicks += 1) {
      const before = page.url();
      await page.getByRole('link', { name: 'Zoom in' }).click();
      await moved(page, before);
    }
    await page.locator('#old > g').waitFor({ state: 'detached' });
    const expected = reducedMotion === 'reduce' ? [] : Array(2).fill(['old-ground', 1]);
    assert.deepEqual(await page.evaluate(() => window.faded), expected);
  });
}

for (const viewport of [
  { width: 390, height: 800 },
  { width: 1440, height: 900 },
]) {
  for (const javaScriptEnabled of [true, false]) {
    world.test(`the first view shows all photos at ${viewport.width} px, JavaScript ${javaScriptEnabled}`, { viewport, javaScriptEnabled, reducedMotion: 'reduce' }, async (visit) => {
      const { page } = visit;
      await visit.signIn(person, '/map');
      await page.waitForFunction((all) => {
        const map = document.getElementById('map').getBoundingClientRect();
        const isInside = ({ left, right }) => left >= map.left - 1 && right <= map.right + 1;
        const inside = [...document.querySelectorAll('#clusters a')].filter((pin) => isInside(pin.getBoundingClientRect()));
        return inside.reduce((sum, pin) => sum + Number.parseInt(pin.getAttribute('aria-label'), 10), 0) === all;
      }, PLACES.length);
      if (!javaScriptEnabled) return;
      // The script loads the clusters again for the size of the map.
      await page.waitForLoadState('networkidle');
      assert.deepEqual(await faultsOfKeyboard(page), []);
    });
  }
}
