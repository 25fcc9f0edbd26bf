// A person with a browser, as far as signing in and consenting go: pages are opened, cookies kept, redirects
// followed, and forms filled in and sent with all their hidden fields.
import assert from 'node:assert/strict';
import { defaultTreeAdapter as tree, parse } from 'parse5';

/** More steps than these between a link and the way back mean that it goes in a circle. */
const MOST_STEPS = 10;

export class Person {
  #email;
  #password;
  #cookies = new Map();
  /** How often consent was given. */
  consents = 0;

  constructor(email, password) {
    this.#email = email;
    this.#password = password;
  }

  /**
   * Opens the URL that an app sends its user to, signs in where that is asked for, allows what is asked for, and
   * gives the URL at which the app gets its answer.
   */
  async allow(authorizationUrl) {
    const { origin } = new URL(authorizationUrl);
    let page = await this.#send(new URL(authorizationUrl));
    for (let step = 0; step < MOST_STEPS; step += 1) {
      if (page.location) {
        const next = new URL(page.location, page.url);
        if (next.origin !== origin) return next;
        page = await this.#send(next);
      } else {
        assert.equal(page.status, 200, `${page.url} shows: ${page.text}`);
        page = await this.#submit(page);
      }
    }
    throw new Error(`no way back to the app from ${authorizationUrl}`);
  }

  /** Fills in and sends the page's first form. */
  async #submit({ url, text }) {
    const [form] = elements(parse(text), 'form');
    assert.ok(form, `${url} has a form: ${text}`);
    const fields = new URLSearchParams();
    for (const { name, value = '', type } of [...elements(form, 'input')].map(attributes)) {
      if (name && type !== 'submit') fields.append(name, value);
    }
    if (fields.has('password')) {
      fields.set('email', this.#email);
      fields.set('password', this.#password);
    } else {
      const buttons = [...elements(form, 'button')].map(attributes);
      const allows = buttons.some(({ name, value }) => name === 'decision' && value === 'allow');
      assert.ok(allows, `${url} asks for a decision: ${text}`);
      fields.set('decision', 'allow');
      this.consents += 1;
    }
    const { method, action } = attributes(form);
    assert.equal(method?.toLowerCase(), 'post');
    return this.#send(new URL(action ?? '', url), { method: 'POST', body: fields });
  }

  async #send(url, init = {}) {
    const cookie = [...this.#cookies].map((pair) => pair.join('=')).join('; ');
    const answer = await fetch(url, { ...init, headers: { cookie }, redirect: 'manual' });
    for (const line of answer.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line);
      if (/;\s*max-age=0/i.test(line)) this.#cookies.delete(name);
      else this.#cookies.set(name, value);
    }
    return { url, status: answer.status, location: answer.headers.get('location'), text: await answer.text() };
  }
}

/** All elements of that name inside a node, in the document's order. */
function* elements(node, name) {
  for (const child of tree.getChildNodes(node) ?? []) {
    if (tree.isElementNode(child) && tree.getTagName(child) === name) yield child;
    yield* elements(child, name);
  }
}

const attributes = (element) =>
  Object.fromEntries(tree.getAttrList(element).map(({ name, value }) => [name, value]));
