// Everything that a browser complains of on a page, and everything that it asks for.

import assert from 'node:assert/strict';

const PATIENCE_MS = 5_000;
// A test types before the page has put the focus where it wants it, which no person is quick enough for.
const TYPED_EARLY = /^Autofocus processing was blocked because a document already has a focused element/;

export class Watch {
  #complaints = [];
  #requests = [];
  #origins;
  #played = new Set();
  #answers = {};

  /** Watches a page, which may ask `origins` for things. */
  static async of(page, origins) {
    const watch = new Watch();
    watch.page = page;
    watch.#origins = new Set(origins);
    page.on('console', (message) => {
      if (!TYPED_EARLY.test(message.text())) watch.#complaints.push(`console: ${message.text()}`);
    });
    page.on('pageerror', (error) => watch.#complaints.push(`uncaught: ${error}`));
    // Redirects and icons are among these requests, and issues come also where scripts are off.
    const browser = await page.context().newCDPSession(page);
    watch.browser = browser;
    browser.on('Network.requestWillBeSent', ({ request }) => watch.#requests.push(request.url));
    browser.on('Audits.issueAdded', ({ issue }) => watch.#issue(issue));
    await Promise.all([browser.send('Network.enable'), browser.send('Audits.enable')]);
    return watch;
  }

  /** Lets the page lead to another place. */
  allowOrigin(url) {
    this.#origins.add(originOf(url));
  }

  /** Plays another host: answers what is asked of it, so that no name needs to be found. */
  async play(url, answers = {}) {
    const { origin } = new URL(url);
    this.allowOrigin(origin);
    Object.assign(this.#answers, answers);
    if (this.#played.size === 0) this.browser.on('Fetch.requestPaused', (paused) => this.#answer(paused));
    this.#played.add(origin);
    const patterns = [...this.#played].map((played) => ({ urlPattern: `${played}/*` }));
    await this.browser.send('Fetch.enable', { patterns });
  }

  /** Waits for a complaint that is meant to come, and forgets it. */
  async takes(pattern) {
    const until = Date.now() + PATIENCE_MS;
    for (;;) {
      const place = this.#complaints.findIndex((text) => pattern.test(text));
      if (place >= 0) return this.#complaints.splice(place, 1)[0];
      assert.ok(Date.now() < until, `nothing like ${pattern} among the complaints: ${this.#complaints.join('\n')}`);
      await this.page.waitForTimeout(20);
    }
  }

  /** A page whose status says that something went wrong is told of in the console, which is no fault of the page. */
  takesStatus(status) {
    return this.takes(new RegExp(`^console: Failed to load resource: .* status of ${status} `));
  }

  /** Fails when the browser complained, or asked anybody else for anything. */
  async check() {
    // What was reported before this answer is here after it.
    await this.page.evaluate(() => document.readyState);
    assert.deepEqual(this.#complaints, [], 'the browser complains');
    const foreign = this.#requests.filter((url) => !url.startsWith('data:') && !this.#origins.has(originOf(url)));
    assert.deepEqual(foreign, [], 'asked of somebody else');
  }

  #answer({ requestId, request }) {
    const { status, headers, body } = this.#answers[request.url.split('?')[0]] ?? page('Elsewhere');
    const responseHeaders = Object.entries(headers).map(([name, value]) => ({ name, value }));
    const encoded = Buffer.from(body).toString('base64');
    const answer = { requestId, responseCode: status, responseHeaders, body: encoded };
    // The page may have gone on without it.
    this.browser.send('Fetch.fulfillRequest', answer).catch(() => {});
  }

  #issue({ code, details }) {
    // An address that only sends browsers on to an app looks to Chromium like one that tracks them.
    if (code !== 'BounceTrackingIssue') this.#complaints.push(`issue: ${code} ${JSON.stringify(details)}`);
  }
}

/** The origin of an address; of one for an app, its scheme. */
function originOf(url) {
  const { origin, protocol } = new URL(url);
  return origin === 'null' ? protocol : origin;
}

/** A small page that browsers find nothing wrong with. */
export function page(title, content = '') {
  const head = `<meta charset="utf-8"><title>${title}</title><link rel="icon" href="data:,">`;
  const body = `<!doctype html><html lang="en"><head>${head}</head><body><h1>${title}</h1>${content}</body></html>`;
  return { status: 200, headers: { 'content-type': 'text/html; charset=utf-8' }, body };
}
