// The official inspector of the 2.x line, by its command line: each call is a run of the program. It finds the
// authorization server, registers, waits for the browser's answer on a port of its own, keeps tokens and refreshes
// them. Only the browser is played: the program prints the link for which it starts one.
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
/** How the program ends when a tool says that a call failed. */
const TOOL_ERROR = 5;
/** Where it keeps its token: in JSON inside JSON. */
const ACCESS_TOKEN = /(\\"access_token\\":\\")[^"\\]+/;

/** A user's installation: settings, tokens and a place for the browser's answer. */
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

  /** One that speaks in the protocol revisions of this era. */
  static async ofEra(home, era) {
    const place = join(home, era);
    return new Inspector(place, `http://127.0.0.1:${await freePort()}/oauth/callback`, ['--protocol-era', era]);
  }

  get consents() {
    return this.#user.consents;
  }

  /** Runs the program; gives the result that it prints. */
  async run(url, method, ...options) {
    const { code, output, errors } = await this.#run(url, method, options);
    assert.equal(code, 0, `${method} ${options.join(' ')}: ${errors}`);
    return JSON.parse(output);
  }

  /** Calls a tool, as `useTools` wants it. */
  async call(url, name, args) {
    const options = ['--tool-name', name, '--tool-args-json', JSON.stringify(args)];
    const { code, output, errors } = await this.#run(url, 'tools/call', options);
    const { result, appInfo } = JSON.parse(output);
    assert.equal(code, result.isError ? TOOL_ERROR : 0, errors);
    // For a tool with a page it also looks whether the page can be shown.
    if (name === 'show_images') {
      assert.deepEqual([appInfo?.resourceUri, appInfo?.resourceMimeType], [GALLERY, APP_PAGE]);
    }
    return result;
  }

  /** Spoils the access token that it keeps, so that it is refused as an expired one is. */
  async wearOut() {
    const secrets = await readFile(this.#secrets, 'utf8');
    const spoilt = secrets.replace(ACCESS_TOKEN, '$1worn-out');
    assert.notEqual(spoilt, secrets);
    await writeFile(this.#secrets, spoilt);
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

  /** What the program says of its doings. When it wants a browser, the person follows the link. */
  async #watch(stream) {
    let said = '';
    let answered;
    for await (const piece of stream.setEncoding('utf8')) {
      said += piece;
      const link = /Please navigate to: (\S+)\n/.exec(said)?.[1];
      if (link) answered ??= this.#user.allow(link).then((redirected) => fetch(redirected));
    }
    const page = await answered;
    assert.ok(page?.ok ?? true, `the program's own page: ${page?.status}`);
    return said;
  }

  /** Nothing of the user's who runs the tests: neither settings nor a desktop with a browser. */
  #environment() {
    return {
      PATH: process.env.PATH,
      HOME: this.#home,
      MCP_INSPECTOR_SECRET_STORE: 'file',
      // It takes this for somebody who watches; the browser that it then starts does nothing.
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

/** From the bare URL to every tool, the resource of apps, and a refresh. */
async function use(home, url, era, revision) {
  const inspector = await Inspector.ofEra(home, era);
  const { result: server } = await inspector.run(url, 'initialize');
  assert.equal(server.protocolVersion, revision);
  assert.equal(inspector.consents, 1);

  // It also judges whether the schemas can be used with every model.
  const { result: { tools } } = await inspector.run(url, 'tools/list', '--strict');
  checkToolList(tools, url);
  const { result: list } = await inspector.run(url, 'resources/list');
  const { result: page } = await inspector.run(url, 'resources/read', '--uri', GALLERY);
  checkGallery(list, page, url);

  // The first call has to refresh the token.
  await inspector.wearOut();
  const worked = await useTools((name, args) => inspector.call(url, name, args), url);
  assert.equal(inspector.consents, 1, 'it refreshes by itself and asks nobody');
  console.log(`${url.pathname} in ${revision}, ${era}: ${tools.length} tools, ${worked} calls`);
}

const home = await mkdtemp(join(tmpdir(), 'mcp-inspector-'));
try {
  // A run of the program takes most of a second, so the eras go side by side.
  await Promise.all([
    use(home, mcpUrl, 'auto', NEWEST),
    use(home, mcpUrl, 'modern', NEWEST),
    use(home, siblingUrl('v2'), 'legacy', '2025-11-25'),
  ]);
} finally {
  await rm(home, { recursive: true, force: true });
}
