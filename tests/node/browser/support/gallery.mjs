// The photo app in an MCP Apps host, and accounts with photos to show in it.

import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32, deflateSync } from 'node:zlib';

export const TOOL = 'show_images';
/** The capabilities of a host that supports everything. */
export const ALL_CAPABILITIES = { serverTools: {}, updateModelContext: { text: {} }, openLinks: {} };
export const CONTEXT = {
  theme: 'light',
  locale: 'en-GB',
  displayMode: 'inline',
  availableDisplayModes: ['inline', 'fullscreen'],
  containerDimensions: { maxHeight: 6000 },
};

/** The most image ids in one call. */
const MAX_IDS = 100;

/** A new account with the photos of a folder: its API key and an album of all photos. */
async function owner(service, name, folder) {
  const { email } = await service.person(name);
  await service.run(['import', email, folder]);
  const printed = await service.run(['key', 'create', email, '--name', 'host']);
  const key = printed.trim().split('\n').at(-1);
  const request = async (method, path, content) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const answer = await service.fetch(`/api/ext/v2${path}`, { method, headers, body: content && JSON.stringify(content) });
    return answer.json();
  };
  const ids = new Set();
  for (let end = '', size = -1; ids.size > size; ) {
    size = ids.size;
    const { results } = await request('GET', `/images?limit=${MAX_IDS}&endDate=${end}`);
    for (const { id } of results) ids.add(id);
    end = results.at(-1).capturedAt;
  }
  const all = [...ids];
  const { result } = await request('POST', '/albums', { title: 'Everything', imageIds: all.slice(0, MAX_IDS) });
  if (all.length > MAX_IDS) await request('PATCH', `/albums/${result.id}`, { addImageIds: all.slice(MAX_IDS) });
  return { key, album: result.id };
}

/** A new account with the bundled sample photos. */
export function ownerOfSamples(service, name) {
  const folder = process.env.FIXTURES;
  if (!folder) throw new Error('FIXTURES must be the path of the folder of test photos');
  return owner(service, name, join(folder, 'samples'));
}

/** A new account with this many pictures of one colour each. */
export async function ownerOfMany(service, name, count) {
  const folder = await mkdtemp(join(tmpdir(), 'pictures-'));
  try {
    for (let place = 0; place < count; place += 1) {
      const colour = [(place * 47) % 256, (place * 101) % 256, place % 256];
      await writeFile(join(folder, `${place}.png`), png(48, 32, colour));
    }
    return await owner(service, name, folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** A PNG file of one colour. */
function png(width, height, colour) {
  const chunk = (type, data) => {
    const body = Buffer.concat([Buffer.from(type), data]);
    const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
    length.writeUInt32BE(data.length);
    sum.writeUInt32BE(crc32(body));
    return Buffer.concat([length, body, sum]);
  };
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  // Eight bits for each of three channels.
  header.set([8, 2], 8);
  const rows = Buffer.concat(Array.from({ length: height }, () => Buffer.from([0, ...Array(width).fill(colour).flat()])));
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([signature, chunk('IHDR', header), chunk('IDAT', deflateSync(rows)), chunk('IEND', Buffer.alloc(0))]);
}

export class Gallery {
  /** The URLs of the requests that the app sent itself, not through the host. */
  asked = [];

  /** Opens the app in a host, without calling the tool yet. */
  static async open(visit, host, { key, album }, options = {}) {
    const gallery = new Gallery();
    const { page, service, watch } = visit;
    Object.assign(gallery, { page, album });
    for (const origin of [host.origin, host.sandboxOrigin]) watch.allowOrigin(origin);
    page.on('request', (request) => {
      if (!request.isNavigationRequest() && request.frame() === gallery.frame) gallery.asked.push(request.url());
    });
    await page.goto(host.origin);
    await page.waitForFunction(() => window.host);
    gallery.csp = await page.evaluate((given) => window.host.open(given), {
      url: `${service.origin}${options.resource ?? '/api/mcp/v2'}`,
      key,
      sandbox: host.sandbox,
      tool: TOOL,
      capabilities: options.capabilities ?? ALL_CAPABILITIES,
      context: { ...CONTEXT, ...options.context },
    });
    gallery.sandbox = await (await page.waitForSelector('iframe')).contentFrame();
    gallery.frame = await (await gallery.sandbox.waitForSelector('iframe')).contentFrame();
    const { frame } = gallery;
    Object.assign(gallery, {
      grid: frame.locator('#grid'),
      pictures: frame.locator('#grid > li'),
      viewer: frame.getByRole('dialog').and(frame.locator('#viewer')),
      albumDialog: frame.getByRole('dialog', { name: 'New album' }),
      // Found by its id, because its name changes while more photos load.
      more: frame.locator('#more button'),
      notice: frame.locator('#notice'),
      state: frame.locator('#state'),
      selection: frame.getByRole('group', { name: 'Selected photos' }),
      heading: frame.getByRole('heading', { level: 1 }),
      summary: frame.locator('#summary'),
      note: frame.locator('#note'),
    });
    return gallery;
  }

  /** Calls the tool as a model does, for the photos of the album or for a search. Returns when the app shows the result. */
  show(args = {}) {
    return this.page.evaluate(([tool, given]) => window.host.show(tool, given), [TOOL, this.whole(args)]);
  }

  /** Adds the album to arguments without a query. */
  whole(args = {}) {
    return args.query ? args : { albumId: this.album, ...args };
  }

  /** Announces a call to the app, without a result yet. */
  announce(args) {
    return this.page.evaluate((given) => window.host.announce(given), args);
  }

  /** Gives the app a result. */
  give(result) {
    return this.page.evaluate((given) => window.host.give(given), result);
  }

  /** Waits until the app has handled every message that the host sent. */
  settled() {
    return this.page.evaluate(() => window.host.settled());
  }

  /** Waits until the app has made this many calls and has handled their results. */
  async hasCalled(count) {
    await this.page.waitForFunction((expected) => window.host.seen.answers >= expected, count);
    await this.settled();
  }

  /** Calls another tool, without the app. */
  async call(name, args = {}) {
    const result = await this.page.evaluate(([tool, given]) => window.host.call(tool, given), [name, args]);
    return result.structuredContent ?? JSON.parse(result.content[0].text);
  }

  /** What the app sent to the host: `calls`, `sizes`, `contexts`, `links` or `modes`. */
  seen(kind) {
    return this.page.evaluate((name) => window.host.seen[name], kind);
  }

  /** The button that opens a picture. */
  picture(place) {
    return this.pictures.nth(place).getByRole('button');
  }

  /** The checkbox that selects a picture. */
  box(place) {
    return this.pictures.nth(place).getByRole('checkbox');
  }

  ids() {
    return this.pictures.evaluateAll((items) => items.map(({ dataset }) => dataset.id));
  }

  /** Waits until every visible picture is loaded. */
  async arePainted(count) {
    await this.frame.waitForFunction((expected) => {
      const visible = [...document.querySelectorAll('#grid img')].filter((picture) => {
        const { top, bottom } = picture.getBoundingClientRect();
        return bottom > 0 && top < window.innerHeight;
      });
      const arePainted = visible.every(({ complete, naturalWidth }) => complete && naturalWidth > 0);
      return visible.length > 0 && arePainted && document.querySelectorAll('#grid img').length === expected;
    }, count);
  }

  /** Waits until keys go to this control: the browser moves its focus into the app's frame after the frame has moved its own. */
  async hasFocus(control) {
    const element = await control.elementHandle();
    await this.frame.waitForFunction((expected) => document.activeElement === expected, element);
    for (const outer of [this.page.mainFrame(), this.sandbox]) {
      await outer.waitForFunction(() => document.activeElement?.localName === 'iframe');
    }
  }

  /** Moves the focus to a control and presses a key. */
  async press(control, key) {
    await control.focus();
    await this.hasFocus(control);
    await this.page.keyboard.press(key);
  }

  /** Enters the title of the new album and submits it by keyboard. */
  async titleAlbum(title) {
    const field = this.albumDialog.getByLabel('Title');
    await field.fill(title);
    await this.press(field, 'Enter');
  }

  /** Selects pictures by clicking their checkboxes. */
  async select(...places) {
    for (const place of places) {
      await this.pictures.nth(place).hover();
      await this.box(place).click();
    }
  }
}

/** A unique album title. */
export const someTitle = () => `Album ${randomUUID().slice(0, 8)}`;

/** Every state of the app, and the steps that lead to it. */
export const galleryStates = {
  looking: (gallery) => gallery.announce({ query: 'flowers in a wood' }),
  photos: async (gallery) => {
    await gallery.show();
    await gallery.arePainted(13);
  },
  selected: async (gallery) => {
    await galleryStates.photos(gallery);
    await gallery.select(0, 2, 3);
  },
  viewer: async (gallery) => {
    await gallery.show({ endDate: '2016-01-01' });
    await gallery.picture(0).click();
    await gallery.frame.waitForFunction(() => document.querySelector('.stage').dataset.state === 'loaded');
  },
  'viewer-with-a-match': async (gallery) => {
    await gallery.show({ query: 'Berlin' });
    await gallery.picture(0).click();
    await gallery.frame.waitForFunction(() => document.querySelector('.stage').dataset.state === 'loaded');
  },
  album: async (gallery) => {
    await galleryStates.selected(gallery);
    await gallery.selection.getByRole('button', { name: 'Create album' }).click();
    await gallery.albumDialog.getByRole('button', { name: 'Create album' }).click();
  },
  'album-made': async (gallery) => {
    await galleryStates.selected(gallery);
    await gallery.selection.getByRole('button', { name: 'Create album' }).click();
    await gallery.albumDialog.getByLabel('Title').fill('Spring');
    await gallery.albumDialog.getByRole('button', { name: 'Create album' }).click();
    await gallery.notice.waitFor();
  },
  'one-photo': async (gallery) => {
    await gallery.show({ endDate: '2015-12-31', startDate: '2015-01-01' });
    await gallery.arePainted(1);
  },
  more: async (gallery) => {
    await gallery.show({ limit: 4 });
    await gallery.more.scrollIntoViewIfNeeded();
  },
  nothing: (gallery) => gallery.show({ startDate: '1990-01-01', endDate: '1990-12-31' }),
  'nothing-found': (gallery) => gallery.show({ query: 'a walrus on a bicycle' }),
  'search-without-a-model': async (gallery) => {
    await gallery.show({ query: 'Berlin' });
    await gallery.note.waitFor();
  },
  lost: async (gallery) => {
    await galleryStates.more(gallery);
    await gallery.page.evaluate(() =>
      window.host.put(() => Promise.reject(new Error('The connection was lost: ECONNRESET'))),
    );
    await gallery.more.click();
    await gallery.notice.waitFor();
  },
  refused: (gallery) => gallery.show({ startDate: 'yesterday' }),
};

export const galleryStateNames = Object.keys(galleryStates);
