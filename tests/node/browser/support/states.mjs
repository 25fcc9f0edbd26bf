// Every state of every page, for accessibility tests and screenshots.

import { join } from 'node:path';
import { App } from './app.mjs';
import { Device } from './device.mjs';
import {
  accountPage,
  answerDevice,
  connect,
  consentForm,
  openConfirmation,
  press,
  reloadUntil,
  setUp,
  signIn,
  syncPage,
} from './pages.mjs';
import { movie, photos } from './photos.mjs';
import { importPhotos, importPlaces } from './places.mjs';
import { Service } from './service.mjs';
import { choose, give, isFinished } from './upload.mjs';
import { TIMEOUT_MS } from './watch.mjs';

const CALLBACK = 'https://client.example/callback';
const SET_UP = 'set-up';
/** Longer than a line and without a break opportunity. */
const LONG = 'Familienfotoalbumsynchronisierungswerkzeug'.repeat(2);
const LONG_CALLBACK = `https://${'a'.repeat(60)}.${'b'.repeat(60)}.example/callback`;

/** Signs in and opens the consent form of an app with this name. */
async function atConsent(visit, person, name, callback = CALLBACK) {
  await visit.signIn(person);
  const app = await App.register(visit.service, callback, name);
  if (callback.startsWith('http')) await visit.watch.play(callback);
  await visit.open(app.authorizePath());
  return app;
}

/** Allows the request in the background while the form stays open, and returns the code. */
async function answeredBeside({ context, service, page }, form) {
  const hidden = await form.locator('input[type="hidden"]').all();
  const fields = await Promise.all(hidden.map((field) => Promise.all([field.getAttribute('name'), field.inputValue()])));
  const answer = await context.request.post(page.url(), {
    form: { ...Object.fromEntries(fields), decision: 'allow' },
    headers: { origin: service.origin },
    maxRedirects: 0,
  });
  return new URL(answer.headers().location).searchParams.get('code');
}

/** The account page of a person with a second session. */
async function signedInTwice(visit, person) {
  await visit.signIn(person);
  await visit.context.clearCookies();
  await visit.signIn(person);
}

/** The account page of a person with apps and keys. */
async function busyAccount(visit, person) {
  await visit.signIn(person);
  for (const name of ['Claude', LONG]) await connect(visit, await App.register(visit.service, CALLBACK, name));
  await visit.open('/account');
  for (const name of ['laptop', LONG]) await accountPage(visit.page).createKey(name);
  await visit.open('/account');
}

/** The page about photo sync, of a person with devices. */
async function withDevices(visit, person) {
  await visit.signIn(person, '/account/sync');
  for (const name of ['Anna’s phone', LONG]) await syncPage(visit.page).createPassword(name);
  await visit.open('/account/sync');
}

/** The page that connects a device of this name. */
async function atDevice(visit, person, name) {
  await visit.signIn(person);
  const device = await Device.begin(visit.service, name);
  await visit.page.goto(device.login);
  return device;
}

/** Signs in a person with the sample photos, and opens a page of the library. */
async function withPhotos(visit, person, path) {
  await visit.service.run(['import', person.email, join(process.env.FIXTURES, 'samples')]);
  await visit.signIn(person, path);
  // A search finds photos a moment after the timeline shows them.
  await reloadUntil(visit.page.locator('ul.rows img'), 1);
}

/** Signs in a person with the sample photos, and opens a page that explores them. */
async function exploring(visit, person, path) {
  await withPhotos(visit, person, '/');
  await visit.open(path);
  await visit.page.locator('.explore img').first().waitFor();
}

/** Opens the page of the newest photo, or a page below it. */
async function atPhoto(visit, person, below = '') {
  await withPhotos(visit, person, '/');
  await visit.open(`${await visit.page.locator('ul.rows a').first().getAttribute('href')}${below}`);
}

/** Opens the panel of the photo. */
async function openAbout({ page }) {
  await page.locator('#info').click();
  await page.locator('.about h2').waitFor();
}

/** The page of an album with photos that a form has added, without the script of the timeline. */
async function atAlbum(visit, person) {
  await withPhotos(visit, person, '/search?from=1990-01-01');
  const { page } = visit;
  for (const place of [0, 1, 2]) await page.locator('ul.rows input').nth(place).check();
  await page.locator('.actions input[name="title"]').fill(`Walks ${LONG}`);
  await press(page, page.locator('.actions button[value="add_to_album"]'));
  await visit.open('/albums');
}

/** Selects two photos in the results of a search and presses a button for them. */
async function pressForTwo({ page }, button) {
  await page.goto('/search?from=1990-01-01');
  for (const place of [0, 1]) await page.locator('ul.rows input').nth(place).check();
  return press(page, page.locator(`.actions button${button}`));
}

/** Signs in a person with the sample photos and presses a button for two of them. */
async function withTwoPhotos(visit, person, button) {
  await withPhotos(visit, person, '/');
  return pressForTwo(visit, button);
}

/** The trash with two photos. */
async function atTrash(visit, person) {
  await withTwoPhotos(visit, person, '[value="delete"]');
  await press(visit.page, visit.page.locator('main button.danger'));
  await visit.open('/trash');
}

/** The form that corrects the newest photo, after it was sent with a place. */
async function atPlace(visit, person, place, fill) {
  await atPhoto(visit, person, '/edit');
  await visit.page.locator(`[name="place"][value="${place}"]`).check();
  await fill(visit.page);
  await press(visit.page, visit.page.getByRole('button', { name: 'Save' }).last());
}

/** The map of photos in three cities. */
async function atMap(visit, person, path = '/map') {
  const lisbon = [38.7223, -9.1393];
  await importPlaces(visit.service, person, [lisbon, lisbon, [41.15, -8.61], [48.8566, 2.3522]]);
  await visit.signIn(person, path);
  await visit.page.locator('#photos img').first().waitFor();
  await visit.page.waitForLoadState('networkidle');
}

/** The list of photos that could not be read. */
async function atProblems(visit, person) {
  await visit.signIn(person, '/account/sync');
  const broken = Buffer.concat([Buffer.from([0xff, 0xd8, 0xff, 0xe0]), Buffer.alloc(100)]);
  const files = ['one.jpg', `${LONG}.jpg`].map((name, place) => ({ name, mimeType: 'image/jpeg', buffer: Buffer.concat([broken, Buffer.alloc(place)]) }));
  await choose(visit.page, files);
  await isFinished(visit.page);
  await visit.open('/problems');
  await reloadUntil(visit.page.locator('.entries li'), files.length);
}

/** Opens the steps for every platform. */
const openSteps = (page) =>
  page.locator('main details:not(.ask)').evaluateAll((steps) => steps.forEach((step) => (step.open = true)));

/** The name of each state, and the steps to it with a new account. The states of the set-up page use a service without one. */
const states = {
  [`${SET_UP}`]: (visit) => visit.open(visit.service.setUpPath),
  [`${SET_UP}-pending`]: (visit) => visit.open('/'),
  [`${SET_UP}-refused`]: async (visit) => {
    await visit.open(visit.service.setUpPath);
    await setUp(visit.page, { email: 'ann@example.org', password: 'short' });
  },
  [`${SET_UP}-over`]: (visit) => visit.open('/setup?token=another'),
  start: (visit) => visit.open('/'),
  'start-signed-in': (visit, person) => visit.signIn(person, '/'),
  'photo-sync': (visit) => visit.open('/account/sync'),
  'page-not-found': (visit) => visit.open('/nothing'),
  'sign-in': (visit) => visit.open('/sign-in'),
  'sign-in-refused': async (visit, person) => {
    await visit.open('/sign-in');
    await signIn(visit.page, { ...person, password: 'wrong' });
  },
  'sign-in-locked-out': async (visit, person) => {
    await visit.open('/sign-in');
    for (let failures = 0; failures <= 10; failures += 1) await signIn(visit.page, { ...person, password: 'wrong' });
  },
  'sign-in-for-an-app': async (visit) => {
    const app = await App.register(visit.service, CALLBACK, 'Claude');
    await visit.open(app.authorizePath());
  },
  consent: (visit, person) => atConsent(visit, person, 'Claude'),
  'consent-for-a-local-app': (visit, person) =>
    atConsent(visit, person, 'Claude Code', 'http://127.0.0.1:43210/callback'),
  'consent-for-a-native-app': (visit, person) =>
    atConsent(visit, person, 'Albums', 'com.example.albums:/callback'),
  'consent-with-long-names': (visit, person) => atConsent(visit, person, LONG, LONG_CALLBACK),
  'consent-answered-twice': async (visit, person) => {
    const app = await atConsent(visit, person, 'Claude');
    const { allow } = consentForm(visit.page);
    await app.redeem(await answeredBeside(visit, visit.page.locator('form', { has: allow })));
    await press(visit.page, allow);
  },
  'unknown-app': async (visit) => {
    const app = await App.register(visit.service, CALLBACK);
    await visit.open(app.authorizePath({ client_id: 'nobody' }));
  },
  'form-refused': async (visit, person) => {
    await visit.open('/sign-in');
    await visit.context.clearCookies();
    await signIn(visit.page, person);
  },
  timeline: async (visit, person) => {
    await withPhotos(visit, person, '/');
    // Until the script is ready, photos keep the places for the initial width of the window.
    await visit.page.locator('#timeline.placed').waitFor();
  },
  'timeline-of-examples': async (visit, person) => {
    await visit.signIn(person, '/');
    await press(visit.page, visit.page.getByRole('button', { name: 'Add example photos' }));
    // A photo that arrives during the checks would change the page.
    const end = Date.now() + TIMEOUT_MS;
    while ((await (await visit.page.request.get('/web/timeline')).json()).reading) {
      if (Date.now() > end) throw new Error('the example photos were not read');
      await visit.page.waitForTimeout(100);
    }
    await visit.open('/');
    await visit.page.locator('#timeline.placed').waitFor();
    await visit.page.locator('form.examples').waitFor();
  },
  'timeline-on-this-day': async (visit, person) => {
    const now = new Date();
    const at = (years) => new Date(Date.UTC(now.getUTCFullYear() - years, now.getUTCMonth(), now.getUTCDate(), 12)).toISOString().replace('.000', '');
    await importPhotos(visit.service, person, [4, 8, 12, 16, 20].map((years) => ({ at: at(years), place: [38.7223, -9.1393] })));
    await visit.signIn(person, '/');
    await visit.page.locator('.this-day img').first().waitFor();
    await visit.page.locator('#timeline.placed').waitFor();
  },
  'timeline-selecting': async (visit, person) => {
    await withPhotos(visit, person, '/');
    await visit.page.locator('ul.rows input').first().check({ force: true });
    await visit.page.locator('#selected').waitFor();
  },
  photo: async (visit, person) => {
    await atPhoto(visit, person);
    await visit.page.locator('.strip a').first().waitFor();
  },
  'photo-about': async (visit, person) => {
    await atPhoto(visit, person);
    await openAbout(visit);
    await visit.page.locator('.strip a').first().waitFor();
  },
  'photo-corrected': async (visit, person) => {
    await atPlace(visit, person, 'coordinates', async (page) => {
      await page.getByLabel('Description').fill(`A harbour. ${LONG}`);
      await page.getByLabel('Latitude').fill('38.7223');
      await page.getByLabel('Longitude').fill('-9.1393');
    });
    await visit.page.locator('#message').getByText('The photo is corrected.').waitFor();
    await openAbout(visit);
  },
  'photo-marked': async (visit, person) => {
    await atPhoto(visit, person);
    const { page } = visit;
    await page.locator('#favorite').click();
    await page.locator('#favorite[aria-pressed="true"]').waitFor();
    await openAbout(visit);
    await page.locator('#rating-4').click();
    await page.locator('#rating-0').waitFor();
    await page.locator('#add').fill(`Sea, Walks along the coast, ${LONG.slice(0, 90)}`);
    await page.keyboard.press('Enter');
    await page.locator('.keywords .chips').waitFor();
    await page.getByRole('button', { name: 'Dismiss' }).click();
  },
  'photo-about-to-be-deleted': async (visit, person) => {
    await atPhoto(visit, person);
    await openConfirmation(visit.page.locator('button.danger'));
  },
  'photo-describing': async (visit, person) => {
    await atPhoto(visit, person);
    await openAbout(visit);
    await visit.page.locator('#edit-description').click();
    await visit.page.locator('.about textarea').fill(`A harbour. ${LONG}`);
  },
  'photo-editing': async (visit, person) => {
    await atPhoto(visit, person);
    await visit.page.keyboard.press('e');
    await visit.page.locator('.sheet').waitFor();
  },
  'photo-editing-time': async (visit, person) => {
    await atPhoto(visit, person);
    await openAbout(visit);
    await visit.page.locator('#edit-time').click();
    await visit.page.getByLabel('Time zone', { exact: true }).fill('Europe/Nowhere');
    await visit.page.locator('.sheet').getByRole('button', { name: 'Save' }).click();
    await visit.page.locator('.sheet .notice').waitFor();
    await visit.watch.takesStatus(400);
  },
  'photo-editing-place': async (visit, person) => {
    await atPhoto(visit, person);
    await openAbout(visit);
    await visit.page.locator('#edit-place').click();
    await visit.page.getByLabel('Name of the city').fill('lisb');
    await visit.page.locator('.sheet [aria-label="Cities"]').waitFor();
    await visit.page.locator('.pin-map .land').waitFor({ state: 'attached' });
  },
  'photo-in-an-album': async (visit, person) => {
    await atAlbum(visit, person);
    await press(visit.page, visit.page.locator('.albums a').first());
    await press(visit.page, visit.page.locator('ul.rows a').first());
    await visit.page.locator('#cover').waitFor();
  },
  'photo-edit': (visit, person) => atPhoto(visit, person, '/edit'),
  'photo-edit-cities': (visit, person) => atPlace(visit, person, 'city', (page) => page.getByLabel('Name of the city').fill('lisb')),
  'photo-edit-refused': async (visit, person) => {
    await atPlace(visit, person, 'coordinates', (page) => page.getByLabel('Latitude').fill('91'));
    await visit.watch.takesStatus(400);
  },
  'photos-edit': (visit, person) => withTwoPhotos(visit, person, '[formaction="/photos/edit"]'),
  'photos-about-to-be-deleted': (visit, person) => withTwoPhotos(visit, person, '[value="delete"]'),
  'photos-to-an-album': async (visit, person) => {
    await atAlbum(visit, person);
    await pressForTwo(visit, '[value="add_to_album"]');
  },
  'albums-none': (visit, person) => visit.signIn(person, '/albums'),
  albums: atAlbum,
  album: async (visit, person) => {
    await atAlbum(visit, person);
    await visit.open(await visit.page.locator('.albums a').first().getAttribute('href'));
  },
  'album-selecting': async (visit, person) => {
    await atAlbum(visit, person);
    await visit.open(await visit.page.locator('.albums a').first().getAttribute('href'));
    await visit.page.locator('ul.rows input').first().check();
  },
  'album-in-its-own-order': async (visit, person) => {
    await atAlbum(visit, person);
    const { page } = visit;
    await visit.open(await page.locator('.albums a').first().getAttribute('href'));
    await page.locator('summary', { hasText: 'Order' }).click();
    await press(page, page.getByRole('button', { name: 'My order' }));
    await page.locator('ul.rows input').first().check();
  },
  'albums-found': async (visit, person) => {
    await atAlbum(visit, person);
    await visit.open('/albums?q=nothing');
  },
  'album-adding': async (visit, person) => {
    await atAlbum(visit, person);
    await visit.open(`${await visit.page.locator('.albums a').first().getAttribute('href')}/add`);
    await visit.page.locator('ul.rows input').first().check();
    await visit.page.locator('#add-picked').getByText('Add 1 photo').waitFor();
  },
  'album-without-photos': async (visit, person) => {
    await visit.signIn(person, '/albums');
    await visit.page.getByLabel('Title').fill('Walks');
    await press(visit.page, visit.page.getByRole('button', { name: 'Create' }));
  },
  'album-about-to-be-deleted': async (visit, person) => {
    await atAlbum(visit, person);
    await visit.open(await visit.page.locator('.albums a').first().getAttribute('href'));
    await visit.page.getByRole('link', { name: 'Delete album' }).click();
  },
  'search-none': (visit, person) => visit.signIn(person, '/search'),
  search: (visit, person) => withPhotos(visit, person, '/search?q=green+july+2024'),
  'search-suggestions': async (visit, person) => {
    await exploring(visit, person, '/search');
    await visit.page.getByRole('combobox', { name: 'Search' }).pressSequentially('20');
    await visit.page.getByRole('option').first().waitFor();
    await visit.page.keyboard.press('ArrowDown');
    // The checks move the focus out of the field, which would close the list.
    await visit.page.evaluate(() => addEventListener('blur', (event) => event.stopImmediatePropagation(), true));
  },
  explore: (visit, person) => exploring(visit, person, '/explore'),
  'search-without-results': (visit, person) => visit.signIn(person, '/search?q=submarine&place=Lisbon&from=2024-01-01&to=2024-12-31'),
  favourites: async (visit, person) => {
    await withTwoPhotos(visit, person, '[value="favorite"]');
    await visit.open('/search?favorite=yes');
  },
  'archive-empty': (visit, person) => visit.signIn(person, '/archive'),
  archive: async (visit, person) => {
    await withTwoPhotos(visit, person, '[value="archive"]');
    await visit.open('/archive');
  },
  'photos-archived': (visit, person) => withTwoPhotos(visit, person, '[value="archive"]'),
  menu: async (visit, person) => {
    await visit.signIn(person, '/trash');
    await visit.page.locator('.menu > summary').click();
    // The checks move the focus out of the menu, which would close it.
    await visit.page.evaluate(() => addEventListener('focusout', (event) => event.stopImmediatePropagation(), true));
  },
  'trash-empty': (visit, person) => visit.signIn(person, '/trash'),
  trash: atTrash,
  'problems-none': (visit, person) => visit.signIn(person, '/problems'),
  'trash-about-to-be-emptied': async (visit, person) => {
    await atTrash(visit, person);
    await visit.open('/trash/empty');
  },
  problems: atProblems,
  'problem-about-to-be-deleted': async (visit, person) => {
    await atProblems(visit, person);
    for (const summary of await visit.page.locator('.unread').first().locator('summary').all()) await summary.click();
  },
  map: (visit, person) => atMap(visit, person),
  'map-of-a-place': (visit, person) => atMap(visit, person, '/map?z=10&lat=38.7&lon=-9.1&bbox=-9.2,38.7,-9.1,38.8'),
  'map-none': (visit, person) => visit.signIn(person, '/map'),
  account: (visit, person) => visit.signIn(person),
  ...Object.fromEntries(
    ['apps', 'keys', 'sync', 'search', 'password', 'sessions', 'activity', 'delete'].map((section) => [
      `account-${section}`,
      (visit, person) => visit.signIn(person, `/account/${section}`),
    ]),
  ),
  'photo-sync-steps': async (visit) => {
    await visit.open('/account/sync');
    await openSteps(visit.page);
  },
  'account-sync-with-devices': withDevices,
  'account-sync-about-to-disconnect': async (visit, person) => {
    await withDevices(visit, person);
    await openConfirmation(syncPage(visit.page).disconnectButton('Anna’s phone'));
  },
  'account-sync-steps': async (visit, person) => {
    await visit.signIn(person, '/account/sync');
    await openSteps(visit.page);
  },
  'account-sync-new-password': async (visit, person) => {
    await visit.signIn(person, '/account/sync');
    await syncPage(visit.page).createPassword('Anna’s phone');
    await visit.page.getByText('QR code with this password').click();
  },
  'account-sync-qr-code': async (visit, person) => {
    await visit.signIn(person, '/account/sync');
    await syncPage(visit.page).showCode('Anna’s phone');
  },
  'connect-device': (visit, person) => atDevice(visit, person, 'Anna’s iPhone (Nextcloud iOS)'),
  'connect-device-with-long-name': (visit, person) => atDevice(visit, person, LONG),
  'connect-device-allowed': async (visit, person) => {
    await atDevice(visit, person, 'Anna’s iPhone (Nextcloud iOS)');
    await press(visit.page, answerDevice(visit.page).allow);
  },
  'connect-device-denied': async (visit, person) => {
    await atDevice(visit, person, 'Anna’s iPhone (Nextcloud iOS)');
    await press(visit.page, answerDevice(visit.page).deny);
  },
  'connect-device-expired': (visit) => visit.open('/index.php/login/v2/flow/unknown'),
  'account-sync-uploading': async (visit, person) => {
    await visit.signIn(person, '/account/sync');
    // Delays this response, so that the page draws the waiting files before it.
    await visit.page.route('**/upload/known', async (route) => {
      await visit.page.waitForTimeout(300);
      await route.continue();
    });
    // These requests never get a response, so the upload stays in this state.
    await visit.page.route('**/upload/', () => {});
    await choose(visit.page, photos(5));
    await visit.page.locator('#tray .files progress').first().waitFor();
  },
  'account-sync-uploaded': async (visit, person) => {
    await visit.signIn(person, '/account/sync');
    await choose(visit.page, [...photos(3), movie(`${LONG}.mp4`)]);
    await isFinished(visit.page);
    await visit.watch.takesStatus(415);
  },
  'account-sync-left-out': async (visit, person) => {
    await visit.signIn(person, '/account/sync');
    const [{ buffer }] = photos(1);
    await choose(visit.page, [
      ...['takeout-20240101T000000Z-001.zip', 'IMG_1.jpg.supplemental-metadata.json'].map((name) => ({ name, mimeType: '', buffer })),
      ...photos(1),
    ]);
    await isFinished(visit.page);
  },
  'account-sync-upload-signed-out': async (visit, person) => {
    await visit.signIn(person, '/account/sync');
    await visit.context.clearCookies();
    await choose(visit.page, photos(3));
    await visit.page.getByText('Paused. 0 of 3').waitFor();
    visit.watch.forgets(/status of 401/);
  },
  'albums-aiming': async (visit, person) => {
    await visit.signIn(person, '/albums');
    // Only a drag that continues keeps the target.
    await visit.page.evaluate(() => setInterval(() => {
      const data = new DataTransfer();
      data.items.add(new File(['x'], 'x.jpg'));
      document.body.dispatchEvent(new DragEvent('dragover', { bubbles: true, cancelable: true, dataTransfer: data }));
    }, 200));
    await visit.page.locator('#upload-target').waitFor();
  },
  'trash-uploading': async (visit, person) => {
    await visit.signIn(person, '/trash');
    await visit.page.route('**/upload/', () => {});
    await give(visit.page, [...photos(4), { ...photos(1)[0], name: `${LONG}.png` }]);
    await visit.page.locator('#tray .files progress').first().waitFor();
  },
  'trash-uploaded': async (visit, person) => {
    await visit.signIn(person, '/trash');
    await give(visit.page, [...photos(3), movie(`${LONG}.mp4`)]);
    await isFinished(visit.page);
    await visit.page.locator('#tray a').nth(2).waitFor();
    await visit.watch.takesStatus(415);
  },
  'trash-without-space': async (visit, person) => {
    await visit.signIn(person, '/trash');
    await visit.page.route('**/upload/', (route) => route.fulfill({ status: 507, json: { error: 'full' } }));
    await give(visit.page, photos(2));
    await isFinished(visit.page);
    visit.watch.forgets(/status of 507/);
  },
  'albums-upload-stopped': async (visit, person) => {
    await visit.signIn(person, '/albums');
    await visit.page.evaluate(() => sessionStorage.setItem('upload', '{"done":12,"total":40}'));
    await visit.open('/albums');
    await visit.page.locator('#tray .notice button').waitFor();
  },
  'account-plan': async (visit, person) => {
    await visit.service.run(['account', 'set-plan', person.email, 'free']);
    await visit.signIn(person, '/account/plan');
  },
  'account-asking': async (visit, person) => {
    await busyAccount(visit, person);
    for (const step of await visit.page.locator('.asking details').all()) await step.locator('summary').click();
  },
  'account-in-use': busyAccount,
  'account-with-a-new-key': async (visit, person) => {
    await visit.signIn(person);
    await accountPage(visit.page).createKey('laptop');
  },
  'account-refused': async (visit, person) => {
    await visit.signIn(person);
    await accountPage(visit.page).changePassword('wrong', 'another password of the tests');
  },
  'account-signed-out-elsewhere': async (visit, person) => {
    await signedInTwice(visit, person);
    await accountPage(visit.page).signOutEverywhere();
  },
  'account-signed-in-elsewhere': signedInTwice,
  'account-about-to-be-deleted': async (visit, person) => {
    await visit.signIn(person);
    await openConfirmation(visit.page.locator('form[action="/account/delete"] button'));
  },
  'account-deleted': async (visit, person) => {
    await visit.signIn(person);
    await accountPage(visit.page).deleteAccount(person.password);
  },
};

export const stateNames = Object.keys(states);

/**
 * The states that axe-core and the tests of layout judge. States with a map are excluded, because both tools report the parts that
 * the edge of the map cuts off.
 */
export const judgedStateNames = stateNames.filter((name) => !['map', 'map-of-a-place'].includes(name));

/** States that need a library that phones can reach. */
const AT_HOME = ['photo-sync-steps', 'account-sync-with-devices', 'account-sync-new-password', 'account-sync-qr-code'];

/** Opens a browser and brings it to a state, with a new account. Without a name, the world chooses one. */
export async function show(world, name, options, accountName) {
  const ownService = name.startsWith(SET_UP) ? await Service.start() : undefined;
  const service = ownService ?? (AT_HOME.includes(name) ? await world.atHome() : world.service);
  const visit = await world.visit(options, service);
  visit.ownService = ownService;
  try {
    const isSetUp = Boolean(ownService);
    const person = () => (accountName ? service.person(accountName) : world.newAccount(service));
    await states[name](visit, isSetUp ? undefined : await person());
  } catch (error) {
    await visit.close();
    throw error;
  }
  return visit;
}
