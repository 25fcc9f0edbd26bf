// Records everything that a browser reports about a page and everything that it requests.

import assert from 'node:assert/strict';

/** Ends a wait that can no longer succeed. Long enough for a busy machine: no verdict depends on speed. */
export const TIMEOUT_MS = 60_000;
const POLL_MS = 20;
// Chromium logs this if a test types before autofocus runs. A person is never that fast.
const TYPED_EARLY = /^Autofocus processing was blocked because a document already has a focused element/;
/** What Chromium reports when the end of a session deletes cached photos. */
const CACHE_CLEARED = /^Clear-Site-Data header on '[^']+': Cleared data types: "cache"\.$/;
const NOTICES = [TYPED_EARLY, CACHE_CLEARED];
// The error is from Chromium's own error page in a refused frame, which fails when it is closed while it loads. It cannot be from
// the pages of the service, because they have no Trusted Types policy.
const ERROR_PAGE = /'TrustedTypePolicy': The provided callback is no longer runnable/;
// Firefox reports this for an image whose loading was cancelled because its tile left the window. Tests wait for the images in
// sight, so a damaged one does not pass.
const CANCELLED_IMAGE = /^Image corrupt or truncated\.$/;

export class Watch {
  #complaints = [];
  #requests = [];
  #origins;
  #played = new Set();
  #answers = {};

  /** Watches a page that may send requests to `origins`. */
  static async of(page, origins) {
    const watch = new Watch();
    watch.page = page;
    watch.#origins = new Set(origins);
    page.on('console', (message) => {
      if (!NOTICES.some((notice) => notice.test(message.text()))) watch.#complaints.push(`console: ${message.text()}`);
    });
    page.on('pageerror', (error) => {
      if (![ERROR_PAGE, CANCELLED_IMAGE].some((notice) => notice.test(error.message))) watch.#complaints.push(`uncaught: ${error}`);
    });
    if (page.context().browser().browserType().name() === 'firefox') {
      // Firefox reports violations of the Content-Security-Policy like errors of scripts, so the listeners above are enough.
      page.on('request', (request) => watch.#requests.push(request.url()));
      return watch;
    }
    // These events include redirects and icons. Issues are also reported if scripts are disabled.
    const browser = await page.context().newCDPSession(page);
    watch.browser = browser;
    browser.on('Network.requestWillBeSent', ({ request }) => watch.#requests.push(request.url));
    browser.on('Audits.issueAdded', ({ issue }) => watch.#issue(issue));
    await Promise.all([browser.send('Network.enable'), browser.send('Audits.enable')]);
    return watch;
  }

  /** Allows requests to the origin of a URL. */
  allowOrigin(url) {
    this.#origins.add(originOf(url));
  }

  /** Acts as another host by answering its requests inside the browser, without a name lookup. */
  async play(url, answers = {}) {
    const { origin } = new URL(url);
    this.allowOrigin(origin);
    Object.assign(this.#answers, answers);
    if (this.#played.size === 0) this.browser.on('Fetch.requestPaused', (paused) => this.#answer(paused));
    this.#played.add(origin);
    const patterns = [...this.#played].map((played) => ({ urlPattern: `${played}/*` }));
    await this.browser.send('Fetch.enable', { patterns });
  }

  /** Waits for an expected complaint and removes it. */
  async takes(pattern) {
    const until = Date.now() + TIMEOUT_MS;
    for (;;) {
      const place = this.#complaints.findIndex((text) => pattern.test(text));
      if (place >= 0) return this.#complaints.splice(place, 1)[0];
      assert.ok(Date.now() < until, `nothing like ${pattern} among the complaints: ${this.#complaints.join('\n')}`);
      await this.page.waitForTimeout(POLL_MS);
    }
  }

  /** Expects the complaint that Chromium logs for a page with an error status. */
  takesStatus(status) {
    return this.takes(new RegExp(`^console: Failed to load resource: .* status of ${status} `));
  }

  /** Removes all complaints like this, however many there are. */
  forgets(pattern) {
    this.#complaints = this.#complaints.filter((text) => !pattern.test(text));
  }

  /** Fails if the browser complained or sent a request to another host. */
  async check() {
    // The response to this call arrives after all earlier events of the page.
    await this.page.evaluate(() => document.readyState);
    assert.deepEqual(this.#complaints, [], 'the browser complains');
    const foreign = this.#requests.filter((url) => !url.startsWith('data:') && !this.#origins.has(originOf(url)));
    assert.deepEqual(foreign, [], 'requests to other hosts');
  }

  #answer({ requestId, request }) {
    const { status, headers, body } = this.#answers[request.url.split('?')[0]] ?? page('Elsewhere');
    const responseHeaders = Object.entries(headers).map(([name, value]) => ({ name, value }));
    const encoded = Buffer.from(body).toString('base64');
    const answer = { requestId, responseCode: status, responseHeaders, body: encoded };
    // The page may have navigated away.
    this.browser.send('Fetch.fulfillRequest', answer).catch(() => {});
  }

  #issue({ code, details }) {
    // Chromium reports a redirect to an app as bounce tracking, and lazy images whose width depends on their height as an issue.
    if (!['BounceTrackingIssue', 'LazyLoadImageIssue'].includes(code)) this.#complaints.push(`issue: ${code} ${JSON.stringify(details)}`);
  }
}

/** The origin of a URL, or its scheme for a native app. */
function originOf(url) {
  const { origin, protocol } = new URL(url);
  return origin === 'null' ? protocol : origin;
}

/** A small page that causes no complaint. */
export function page(title, content = '') {
  const head = `<meta charset="utf-8"><title>${title}</title><link rel="icon" href="data:,">`;
  const body = `<!doctype html><html lang="en"><head>${head}</head><body><h1>${title}</h1>${content}</body></html>`;
  return { status: 200, headers: { 'content-type': 'text/html; charset=utf-8' }, body };
}
