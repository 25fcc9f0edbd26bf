// One server and one Chromium for each file of tests; a browser of its own, with nobody signed in, for each test.

import { after, test } from 'node:test';
import { chromium } from 'playwright-core';
import { words, signIn } from './pages.mjs';
import { Service } from './service.mjs';
import { Watch } from './watch.mjs';

const TEST_TIMEOUT_MS = 60_000;
/** How long the browser waits for an element or an answer. */
const PATIENCE_MS = 10_000;
/** How much of a page is printed when a test fails. */
const SHOWN_CHARACTERS = 1_500;

/** Starts Chromium. */
export function launch() {
  const executablePath = process.env.CHROMIUM;
  if (!executablePath) throw new Error('CHROMIUM names the browser to test with');
  return chromium.launch({ executablePath });
}

/** The server and the browser of this file's tests. */
export class World {
  #people = 0;

  /** Starts them; they end after the last test. */
  static async forTests() {
    const world = await World.start();
    after(() => world.stop());
    return world;
  }

  /** A server, and a browser that runs already or a new one. */
  static async start(browser) {
    const world = new World();
    try {
      world.service = await Service.start();
      world.browser = browser ?? (await launch());
    } catch (error) {
      await world.stop();
      throw error;
    }
    return world;
  }

  async stop() {
    await this.browser?.close();
    await this.service?.stop();
  }

  /** Somebody with a new account. */
  somebody() {
    this.#people += 1;
    return this.service.person(`person-${this.#people}`);
  }

  /** A browser of somebody's, with cookies of its own. */
  async visit(options = {}, service = this.service) {
    const context = await this.browser.newContext({ baseURL: service.origin, ...options });
    context.setDefaultTimeout(PATIENCE_MS);
    const page = await context.newPage();
    return new Visit(service, context, page, await Watch.of(page, [service.origin]));
  }

  /** A test of pages, in a browser with scripts and in one without. */
  flow(name, body) {
    for (const javaScriptEnabled of [true, false]) {
      this.test(javaScriptEnabled ? name : `${name}, without JavaScript`, { javaScriptEnabled }, body);
    }
  }

  /**
   * A test of pages, which is handed one browser, and a function that gives more of them, of another service if one is
   * named. It also fails when a page makes the browser complain, or asks anybody else for anything.
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

/** What one browser has open. */
export class Visit {
  constructor(service, context, page, watch) {
    Object.assign(this, { service, context, page, watch });
  }

  /** Opens a path of the service; gives the answer that the browser ends at. */
  open(path) {
    return this.page.goto(path);
  }

  /** Signs in, and ends at a page of the service. */
  async signIn(person, returnTo = '/account') {
    await this.open(`/sign-in?return_to=${encodeURIComponent(returnTo)}`);
    return signIn(this.page, person);
  }

  async close() {
    await this.context.close();
    await this.ownService?.stop();
  }
}

/** What a browser shows, for whoever has to find out why a test failed. */
async function shown({ page }) {
  const text = await words(page).catch(() => 'a page that cannot be read');
  return `${page.url()} shows:\n${text.slice(0, SHOWN_CHARACTERS)}\n`;
}
