// A person who signs in and consents in a browser: opens pages, keeps cookies, follows redirects, and submits forms with
// their hidden fields and every box ticked.
import assert from 'node:assert/strict';
import { defaultTreeAdapter as tree, parse } from 'parse5';

/** Upper bound on pages and redirects in a sign-in; more mean a loop. */
const MAX_STEPS = 10;

/** A redirect URI of an app on this machine. Nothing listens there: tests pass the redirect to the client themselves. */
export const redirectUri = 'http://127.0.0.1:33417/callback';

export class Person {
  #email;
  #password;
  #cookies = new Map();
  /** The number of consents given. */
  consents = 0;

  constructor(email, password) {
    this.#email = email;
    this.#password = password;
  }

  /**
   * Opens an authorization URL, signs in if needed, allows the request, and returns the URL of the redirect to the app.
   */
  async allow(authorizationUrl) {
    const { origin } = new URL(authorizationUrl);
    let page = await this.#send(new URL(authorizationUrl));
    for (let step = 0; step < MAX_STEPS; step += 1) {
      if (page.location) {
        const next = new URL(page.location, page.url);
        if (next.origin !== origin) return next;
        page = await this.#send(next);
      } else {
        assert.equal(page.status, 200, `${page.url} shows: ${page.text}`);
        page = await this.#submit(page);
      }
    }
    throw new Error(`no redirect to the app from ${authorizationUrl}`);
  }

  /** Fills in and submits the page's first form. */
  async #submit({ url, text }) {
    const page = parse(text);
    const [form] = elements(page, 'form');
    assert.ok(form, `${url} has a form: ${text}`);
    // A field may also stand outside the form and name it.
    const { id } = attributes(form);
    const inside = new Set(elements(form, 'input'));
    const fields = new URLSearchParams();
    for (const input of elements(page, 'input')) {
      const { name, value = '', type, form: owner } = attributes(input);
      if (name && type !== 'submit' && (inside.has(input) || (id && owner === id))) fields.append(name, value);
    }
    if (fields.has('password')) {
      fields.set('email', this.#email);
      fields.set('password', this.#password);
    } else {
      const buttons = [...elements(form, 'button')].map(attributes);
      // If a form has one button, that is the one to press.
      const allow = buttons.length === 1 ? buttons[0] : buttons.find(({ value }) => value === 'allow');
      assert.ok(allow?.name, `${url} asks for a decision: ${text}`);
      fields.set(allow.name, allow.value);
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

/** All descendants with this tag name, in document order. */
function* elements(node, name) {
  for (const child of tree.getChildNodes(node) ?? []) {
    if (tree.isElementNode(child) && tree.getTagName(child) === name) yield child;
    yield* elements(child, name);
  }
}

const attributes = (element) =>
  Object.fromEntries(tree.getAttrList(element).map(({ name, value }) => [name, value]));
