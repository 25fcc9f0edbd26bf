// Serves an MCP Apps host: its page on one origin and the sandbox proxy on another. The app's Content-Security-Policy is the
// strictest that allows what the app declares.

import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { once } from 'node:events';

const TYPES = { html: 'text/html; charset=utf-8', js: 'text/javascript', mjs: 'text/javascript' };
const PACKAGES = new URL('../../node_modules/', import.meta.url);
const PAGES = new URL('host/', import.meta.url);
/** The import map for the packages' bare imports. */
const IMPORTS = {
  '@modelcontextprotocol/client': '@modelcontextprotocol/client/dist/index.mjs',
  '@modelcontextprotocol/client/_shims': '@modelcontextprotocol/client/dist/shimsBrowser.mjs',
  '@modelcontextprotocol/core': '@modelcontextprotocol/core/dist/index.mjs',
  '@modelcontextprotocol/core/internal': '@modelcontextprotocol/core/dist/internal.mjs',
  '@modelcontextprotocol/ext-apps/app-bridge': '@modelcontextprotocol/ext-apps/dist/src/app-bridge.js',
  eventsource: 'eventsource/dist/index.js',
  'eventsource-parser': 'eventsource-parser/dist/index.js',
  'eventsource-parser/stream': 'eventsource-parser/dist/stream.js',
  jose: 'jose/dist/webapi/index.js',
  'pkce-challenge': 'pkce-challenge/dist/index.browser.js',
  'zod/v4': 'zod/v4/index.js',
};

export class Host {
  #servers = [];

  static async start() {
    const host = new Host();
    host.origin = await host.#listen(async (path) => {
      if (path.startsWith('/packages/')) return file(new URL(path.slice('/packages/'.length), PACKAGES));
      return path === '/' ? hostPage() : file(new URL(path.slice(1), PAGES));
    });
    host.sandboxOrigin = await host.#listen(async (path, parameters) => ({
      ...(await file(new URL(path.slice(1), PAGES))),
      'content-security-policy': policy(parameters.get('images')),
    }));
    return host;
  }

  get sandbox() {
    return `${this.sandboxOrigin}/sandbox.html`;
  }

  async stop() {
    for (const server of this.#servers) {
      server.closeAllConnections();
      server.close();
    }
  }

  async #listen(answer) {
    const server = createServer(async (request, reply) => {
      const { pathname, searchParams } = new URL(request.url, 'http://host');
      try {
        const { body, ...headers } = await answer(pathname, searchParams);
        reply.writeHead(200, { ...headers, 'cache-control': 'no-cache' }).end(body);
      } catch (error) {
        reply.writeHead(404).end(String(error));
      }
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    this.#servers.push(server);
    return `http://127.0.0.1:${server.address().port}`;
  }
}

/** The policy of an app that declares its image origins. */
export const policy = (images) =>
  `default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src ${images || "'none'"}`;

async function file(url) {
  return { body: await readFile(url), 'content-type': TYPES[url.pathname.split('.').at(-1)] };
}

async function hostPage() {
  const imports = Object.fromEntries(Object.entries(IMPORTS).map(([name, path]) => [name, `/packages/${path}`]));
  const { body, ...headers } = await file(new URL('host.html', PAGES));
  return { ...headers, body: String(body).replace('IMPORTS', JSON.stringify({ imports })) };
}
