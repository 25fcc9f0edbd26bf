// A library with 20,000 photos, and measurements of its pages.
//
// LARGE_LIBRARY is a data folder with such a library; tests run on a copy. Or LIBRARY_URL is a running service that needs no
// sign-in.

import assert from 'node:assert/strict';
import { after } from 'node:test';
import { launch, World } from './harness.mjs';
import { Service } from './service.mjs';

/** Whether measured times are judged. They are printed anyway, because they depend on the machine. */
export const JUDGES_TIMES = process.env.BUDGETS === '1';
/** A phone on slow 4G, as Lighthouse simulates it: network, and a processor slowed down this many times. */
const SLOW_4G = { offline: false, latency: 150, downloadThroughput: (1.6 * 1024 * 1024) / 8, uploadThroughput: (750 * 1024) / 8 };
const SLOW_CPU = 4;

export const PHONE = { viewport: { width: 412, height: 823 }, deviceScaleFactor: 1.75, isMobile: true, hasTouch: true };
export const DESK = { viewport: { width: 1440, height: 900 } };

/** The library that the tests of a file share. */
export class LargeLibrary {
  #world = new World();
  #person;

  /** Starts the server, and a browser with `start`. Stops both after the last test. */
  static async forTests(start = launch) {
    const library = new LargeLibrary();
    const { LARGE_LIBRARY: folder, LIBRARY_URL: url } = process.env;
    if (!folder && !url) throw new Error('neither LARGE_LIBRARY nor LIBRARY_URL is set');
    after(() => library.#world.stop());
    library.#world.service = url ? { origin: url, stop: async () => {} } : await Service.start({ folder });
    library.#world.browser = await start();
    if (!url) library.#person = await library.#world.service.firstPerson();
    return library;
  }

  /** Adds a test in a signed-in browser. `body` gets its page, which is empty. */
  test(name, options, body) {
    this.#world.test(name, { reducedMotion: 'reduce', ...options }, async (visit) => {
      if (this.#person) await visit.signIn(this.#person, '/account');
      await body(new Page(visit));
    });
  }
}

/** A page of the library in a browser. */
export class Page {
  constructor({ page, watch, context }) {
    Object.assign(this, { page, watch, context, browser: watch.browser });
  }

  async open(path) {
    await this.page.goto(path);
    await this.rest();
  }

  /** Slows the network and the processor down. */
  async slowDown() {
    await this.browser.send('Network.emulateNetworkConditions', SLOW_4G);
    await this.browser.send('Emulation.setCPUThrottlingRate', { rate: SLOW_CPU });
  }

  /**
   * Counts the bytes of responses. The returned function ends the count; given images, it counts only until the last of them was
   * complete.
   */
  countBytes() {
    const responses = new Map();
    const complete = [];
    const started = ({ requestId, response }) => responses.set(requestId, response);
    const ended = ({ requestId, encodedDataLength }) => complete.push({ ...responses.get(requestId), bytes: encodedDataLength });
    this.browser.on('Network.responseReceived', started);
    this.browser.on('Network.loadingFinished', ended);
    return (images) => {
      this.browser.off('Network.responseReceived', started);
      this.browser.off('Network.loadingFinished', ended);
      const last = images ? complete.findLastIndex(({ url }) => images.includes(url)) + 1 : complete.length;
      const sum = (responses) => responses.reduce((sum, { bytes }) => sum + bytes, 0);
      const counted = complete.slice(0, last);
      const of = (type) => counted.filter(({ mimeType }) => mimeType?.includes(type));
      return { all: sum(counted), script: sum(of('javascript')), image: sum(of('image/webp')), images: of('image/webp').length };
    };
  }

  /** Waits until all photos in sight are loaded. Returns the addresses of their images. */
  async inSight() {
    const images = await this.page.waitForFunction(() => {
      const tiles = [...document.querySelectorAll('#timeline li')];
      const shown = tiles.filter((tile) => tile.getBoundingClientRect().top < innerHeight);
      const images = shown.map((tile) => tile.querySelector('img'));
      const areLoaded = images.length > 0 && images.length < tiles.length && images.every(({ naturalWidth }) => naturalWidth > 0);
      return areLoaded && images.map(({ currentSrc }) => currentSrc);
    });
    return images.jsonValue();
  }

  /** Waits until all photos in sight are loaded and nothing moves. */
  async rest() {
    await this.page.waitForFunction(() => {
      const grid = document.getElementById('timeline');
      if (!grid) return true;
      const inSight = (element) => {
        const { top, bottom } = element.getBoundingClientRect();
        return bottom > 0 && top < innerHeight;
      };
      if (!grid.classList.contains('placed')) return false;
      const tiles = [...grid.querySelectorAll('li')].filter(inSight);
      const place = JSON.stringify([innerWidth, scrollY, grid.style.height, location.search]);
      const isSame = place === window.lastPlace;
      window.lastPlace = place;
      return isSame && tiles.length > 0 && tiles.every((tile) => tile.querySelector('img').naturalWidth > 0);
    }, undefined, { polling: 250 });
  }

  /** The first photo that is not hidden by the header and the pinned heading: its id and its position. */
  first() {
    return this.page.evaluate(() => {
      const room = document.querySelector('.top').offsetHeight + document.querySelector('.month > h2').offsetHeight;
      const tiles = [...document.querySelectorAll('#timeline li')].map((tile) => ({ tile, box: tile.getBoundingClientRect() }));
      const shown = tiles.filter(({ box }) => box.bottom > room + 1);
      shown.sort((a, b) => a.box.top - b.box.top || a.box.left - b.box.left);
      const [{ tile, box }] = shown;
      return { id: tile.dataset.id, top: box.top };
    });
  }

  /** The position of a photo in the window, or undefined if it is not in the document. */
  topOf(id) {
    return this.page.evaluate((id) => document.querySelector(`#timeline li[data-id="${id}"]`)?.getBoundingClientRect().top, id);
  }

  /** Scrolls by this many pixels, at once. */
  scroll(top) {
    return this.page.evaluate((top) => scrollBy({ top, behavior: 'instant' }), top);
  }

  /** The number of elements in the document, and the memory of scripts in bytes. */
  async weight() {
    await this.browser.send('HeapProfiler.collectGarbage');
    const { metrics } = await this.browser.send('Performance.getMetrics');
    const heap = metrics.find(({ name }) => name === 'JSHeapUsedSize').value;
    const nodes = await this.page.evaluate(() => document.querySelectorAll('*').length);
    return { heap, nodes };
  }

  link(index) {
    return this.page.locator('#timeline li > a').nth(index);
  }
}

/** Prints a value and checks its limit. Limits of times are checked only if `BUDGETS` is 1. */
export function within(context, name, value, limit, isTime = false) {
  console.log(`${context}: ${name} ${Math.round(value * 1000) / 1000} (at most ${limit})`);
  if (!isTime || JUDGES_TIMES) assert.ok(value <= limit, `${name}: ${value}, at most ${limit}`);
}
