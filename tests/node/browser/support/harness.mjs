// One server and one Chromium for each test file, and a new signed-out browser context for each test.

import { after, test } from 'node:test';
import { chromium } from 'playwright-core';
import { words, signIn } from './pages.mjs';
import { Service } from './service.mjs';
import { TIMEOUT_MS, Watch } from './watch.mjs';

/** A base URL that phones can reach. It uses http, so browsers disable some functions that they enable on localhost. */
export const HOME_URL = 'http://photos.test';
/** Ends a test that hangs. */
const TEST_TIMEOUT_MS = 4 * 60_000;
/** How much of a page a failed test prints. */
const SHOWN_CHARACTERS = 1_500;

/** Starts Chromium. */
export function launch() {
  const executablePath = process.env.CHROMIUM;
  if (!executablePath) throw new Error('CHROMIUM must be the path of the browser');
  // Chromium's headless shell puts each site into its own process only with this flag.
  return chromium.launch({ executablePath, args: ['--site-per-process'], timeout: TIMEOUT_MS });
}

/** The server and the browser that the tests of a file share. */
export class World {
  #people = 0;
  #atHome;

  /** Starts both and stops them after the last test. */
  static async forTests(options) {
    const world = await World.start(undefined, options);
    after(() => world.stop());
    return world;
  }

  /** Starts a server, and a browser unless one is given. */
  static async start(browser, options) {
    const world = new World();
    try {
      world.service = await Service.start(options);
      world.browser = browser ?? (await launch());
    } catch (error) {
      await world.stop();
      throw error;
    }
    return world;
  }

  async stop() {
    await this.browser?.close();
    await this.stopServices();
  }

  async stopServices() {
    await this.service?.stop();
    await this.#atHome?.stop();
  }

  /** A second server, at a base URL that phones can reach. */
  async atHome() {
    this.#atHome ??= await Service.start({ baseUrl: HOME_URL });
    return this.#atHome;
  }

  /** Creates a new account. */
  newAccount(service = this.service) {
    this.#people += 1;
    return service.person(`person-${this.#people}`);
  }

  /** Opens a browser context with its own cookies. */
  async visit(options = {}, service = this.service) {
    const context = await this.browser.newContext({ baseURL: service.origin, proxy: service.proxy, ...options });
    context.setDefaultTimeout(TIMEOUT_MS);
    const page = await context.newPage();
    return new Visit(service, context, page, await Watch.of(page, [service.origin]));
  }

  /** Adds a test that runs twice: with JavaScript and without. */
  flow(name, body) {
    for (const javaScriptEnabled of [true, false]) {
      this.test(javaScriptEnabled ? name : `${name}, without JavaScript`, { javaScriptEnabled }, body);
    }
  }

  /**
   * Adds a test. `body` gets a browser and a function that opens another one, optionally on another service. The test
   * also fails if the browser complains or sends a request to another host.
   */
  test(name, options, body) {
    test(name, { timeout: TEST_TIMEOUT_MS }, async () => {
      const visits = [];
      const another = async (service) => {
        const visit = await this.visit(options, service);
        visits.push(visit);
        return visit;
      };
      try {
        await body(await another(), another);
        for (const visit of visits) await visit.watch.check();
      } catch (error) {
        throw new Error(`${error.message}\n\n${await Promise.all(visits.map(shown))}`, { cause: error });
      } finally {
        for (const visit of visits) await visit.close();
      }
    });
  }
}

/** A browser context with one page. */
export class Visit {
  constructor(service, context, page, watch) {
    Object.assign(this, { service, context, page, watch });
  }

  /** Opens a path of the service and returns the final response. */
  open(path) {
    return this.page.goto(path);
  }

  /** Signs in and continues to a path of the service. */
  async signIn(person, returnTo = '/account') {
    await this.open(`/sign-in?return_to=${encodeURIComponent(returnTo)}`);
    return signIn(this.page, person);
  }

  async close() {
    await this.context.close();
    await this.ownService?.stop();
  }
}

/** The URL and text of a page, for the message of a failed test. */
async function shown({ page }) {
  const text = await words(page).catch(() => '(unreadable)');
  return `${page.url()} shows:\n${text.slice(0, SHOWN_CHARACTERS)}\n`;
}
