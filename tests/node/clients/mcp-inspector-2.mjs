// The official inspector of the 2.x line on the command line. Each call starts the program. It finds the authorization
// server, registers, waits for the browser's redirect on a port, stores tokens and refreshes them. The test replaces only
// the browser: the program prints the link that it opens.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { mcpUrl, person, siblingUrl } from '../lib/service.mjs';
import { APP_PAGE, GALLERY, checkGallery, checkToolList, useTools } from '../lib/tools.mjs';

const NEWEST = '2026-07-28';
const PROGRAM = 'node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js';
/** The program's exit code for a failed tool call. */
const TOOL_ERROR = 5;
/** The stored access token, in JSON inside JSON. */
const ACCESS_TOKEN = /(\\"access_token\\":\\")[^"\\]+/;

/** A user's installation: settings, tokens and a redirect URI. */
class Inspector {
  #home;
  #callback;
  #user = person();
  #chosen;

  constructor(home, callback, chosen) {
    this.#home = home;
    this.#callback = callback;
    this.#chosen = chosen;
  }

  /** An installation that uses the protocol revisions of this era. */
  static async ofEra(home, era) {
    const place = join(home, era);
    return new Inspector(place, `http://127.0.0.1:${await freePort()}/oauth/callback`, ['--protocol-era', era]);
  }

  get consents() {
    return this.#user.consents;
  }

  /** Runs the program and returns the result that it prints. */
  async run(url, method, ...options) {
    const { code, output, errors } = await this.#run(url, method, options);
    assert.equal(code, 0, `${method} ${options.join(' ')}: ${errors}`);
    return JSON.parse(output);
  }

  /** Calls a tool for `useTools`. */
  async call(url, name, args) {
    const options = ['--tool-name', name, '--tool-args-json', JSON.stringify(args)];
    const { code, output, errors } = await this.#run(url, 'tools/call', options);
    const { result, appInfo } = JSON.parse(output);
    assert.equal(code, result.isError ? TOOL_ERROR : 0, errors);
    // The inspector also returns the app of a tool.
    if (name === 'show_images') {
      assert.deepEqual([appInfo?.resourceUri, appInfo?.resourceMimeType], [GALLERY, APP_PAGE]);
    }
    return result;
  }

  /** Replaces the stored access token by an invalid one, which the service refuses like an expired one. */
  async invalidateToken() {
    const secrets = await readFile(this.#secrets, 'utf8');
    const changed = secrets.replace(ACCESS_TOKEN, '$1invalid');
    assert.notEqual(changed, secrets);
    await writeFile(this.#secrets, changed);
  }

  get #secrets() {
    return join(this.#home, '.mcp-inspector', 'secrets.json');
  }

  async #run(url, method, options) {
    const target = [url.href, '--transport', 'http', '--callback-url', this.#callback, ...this.#chosen];
    const program = spawn(
      process.execPath,
      [PROGRAM, '--cli', ...target, '--format', 'json', '--method', method, ...options],
      { env: this.#environment(), stdio: ['ignore', 'pipe', 'pipe'] },
    );
    const ended = once(program, 'close');
    const [output, errors] = await Promise.all([text(program.stdout), this.#watch(program.stderr)]);
    const [code] = await ended;
    return { code, output, errors };
  }

  /** Reads the program's log. When the program prints a link for the browser, the person follows it. */
  async #watch(stream) {
    let log = '';
    let redirect;
    for await (const piece of stream.setEncoding('utf8')) {
      log += piece;
      const link = /Please navigate to: (\S+)\n/.exec(log)?.[1];
      if (link) redirect ??= this.#user.allow(link).then((redirected) => fetch(redirected));
    }
    const page = await redirect;
    assert.ok(page?.ok ?? true, `the program's page after consent: ${page?.status}`);
    return log;
  }

  /** An environment without the settings and the desktop of the user who runs the tests. */
  #environment() {
    return {
      PATH: process.env.PATH,
      HOME: this.#home,
      MCP_INSPECTOR_SECRET_STORE: 'file',
      // The inspector opens a browser only with this setting. As the browser it starts `true`, a program that does nothing.
      MCP_AUTO_OPEN_ENABLED: 'true',
      BROWSER: 'true',
    };
  }
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

/** Starts with the URL alone, calls every tool, reads the photo app, and refreshes. */
async function use(home, url, era, revision, pair) {
  const inspector = await Inspector.ofEra(home, era);
  const { result: server } = await inspector.run(url, 'initialize');
  assert.equal(server.protocolVersion, revision);
  assert.equal(inspector.consents, 1);

  // `--strict` checks that every model can use the schemas.
  const { result: { tools } } = await inspector.run(url, 'tools/list', '--strict');
  checkToolList(tools, url);
  const { result: list } = await inspector.run(url, 'resources/list');
  const { result: page } = await inspector.run(url, 'resources/read', '--uri', GALLERY);
  checkGallery(list, page, url);

  // The first call has to refresh the token.
  await inspector.invalidateToken();
  const worked = await useTools((name, args) => inspector.call(url, name, args), url, pair);
  assert.equal(inspector.consents, 1, 'it refreshes without consent');
  console.log(`${url.pathname} in ${revision}, ${era}: ${tools.length} tools, ${worked} calls`);
}

const home = await mkdtemp(join(tmpdir(), 'mcp-inspector-'));
try {
  // The program takes most of a second to start, so the eras run side by side.
  await Promise.all([
    use(home, mcpUrl, 'auto', NEWEST, 0),
    use(home, mcpUrl, 'modern', NEWEST, 1),
    use(home, siblingUrl('v2'), 'legacy', '2025-11-25', 2),
  ]);
} finally {
  await rm(home, { recursive: true, force: true });
}
