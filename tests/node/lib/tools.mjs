// Calls every tool and reads the photo app, with any client and protocol revision.
import assert from 'node:assert/strict';
import { checkRendition } from './service.mjs';

const TOOLS = [
  'get_info',
  'list_images',
  'search_images',
  'get_image',
  'view_images',
  'show_images',
  'list_albums',
  'create_album',
  'update_album',
  'update_images',
  'undo_changes',
];
const LEGACY = ['get_info', 'list_images', 'search_images', 'get_image', 'show_images'];

/** The tools of a resource, in the order of its list. */
export const toolNames = (url) => (url.pathname.endsWith('/legacy') ? LEGACY : TOOLS);

/** The photo app. */
export const GALLERY = 'ui://photo-library/gallery.html';

/** The MIME type of MCP Apps. */
export const APP_PAGE = 'text/html;profile=mcp-app';

/**
 * Calls each tool, and some with wrong arguments. Returns the number of successful calls. `call(name, args)` returns the
 * client's result of `tools/call`. Runs side by side change different photos: `pair` is the place of theirs.
 */
export async function useTools(call, url, pair = 0) {
  const isStructured = url.pathname.endsWith('/v2');
  let worked = 0;
  /** Makes a call that must succeed and returns its payload. */
  const use = async (name, args = {}) => (await useAll(name, args)).payload;
  /** The same, with all content blocks. */
  async function useAll(name, args) {
    const { content, isError, structuredContent } = await call(name, args);
    assert.equal(content[0]?.type, 'text', name);
    assert.ok(!isError, `${name}: ${content[0].text}`);
    const payload = JSON.parse(content[0].text);
    assert.equal(payload.source, 'photo-library', name);
    // The display tool always has structured content, for the photo app.
    if (isStructured) assert.deepEqual(structuredContent, payload, name);
    else assert.equal(structuredContent !== undefined, name === 'show_images', name);
    worked += 1;
    return { payload, content };
  }
  const ids = ({ results }) => results.map(({ id }) => id);

  const { result: library } = await use('get_info');
  assert.ok(library.totalImages >= 2 && library.syncEnabled, JSON.stringify(library));

  const listed = await use('list_images', { limit: 2 });
  assert.equal(listed.results.length, 2);
  const [newest, second] = ids(listed);
  await checkRendition(listed.results[0].url);

  const { result: image } = await use('get_image', { id: newest });
  assert.equal(image.id, newest);
  const renditions = Object.values(image.renditions);
  assert.ok(renditions.length > 0);
  for (const url of renditions) await checkRendition(url);

  // One of the sample photos was taken in Rome.
  const nearby = await use('search_images', { latitude: 41.9, longitude: 12.5, radiusMeters: 20_000 });
  assert.equal(nearby.results.length, 1);
  assert.ok(nearby.results[0].distanceMeters <= 20_000);

  assert.deepEqual(ids(await use('show_images', { imageIds: [second, newest] })), [second, newest]);

  if (toolNames(url).includes('view_images')) {
    for (const [args, count] of [[{}, 2], [{ sheet: true }, 1]]) {
      const { payload, content } = await useAll('view_images', { imageIds: [second, newest], ...args });
      assert.deepEqual(payload.results.map(({ id, number }) => [id, number]), [[second, 1], [newest, 2]]);
      const pictures = content.slice(1);
      assert.equal(pictures.length, count);
      for (const { type, mimeType, data } of pictures) {
        assert.deepEqual([type, mimeType], ['image', 'image/jpeg']);
        const jpeg = Buffer.from(data, 'base64');
        assert.deepEqual([...jpeg.subarray(0, 2), ...jpeg.subarray(-2)], [0xff, 0xd8, 0xff, 0xd9]);
      }
    }
  }

  for (const [name, args, message] of [
    ['list_images', { limit: 0 }, /limit/],
    ['show_images', { imageIds: [newest, 'unknown'] }, /unknown/],
  ]) {
    const { content, isError } = await call(name, args);
    assert.equal(isError, true, name);
    assert.match(content[0].text, message);
  }

  if (toolNames(url).includes('create_album')) {
    const title = `Album ${crypto.randomUUID()}`;
    const { result: made } = await use('create_album', { title, imageIds: [newest] });
    assert.deepEqual([made.title, made.imageCount], [title, 1]);
    const { result: changed } = await use('update_album', { albumId: made.id, addImageIds: [second] });
    assert.deepEqual([changed.id, changed.imageCount], [made.id, 2]);
    const { results: albums } = await use('list_albums', { limit: 100 });
    assert.ok(albums.some(({ id, imageCount }) => id === made.id && imageCount === 2), title);
    const inside = await use('search_images', { albumId: made.id });
    assert.deepEqual(ids(inside).sort(), [newest, second].sort());
    const named = await use('search_images', { album: title });
    assert.deepEqual(named.interpreted, { album: { id: made.id, title } });

    const edited = ids(await use('list_images', { limit: 2 * pair + 2 })).slice(2 * pair);
    const both = { imageIds: edited, rating: 5, keywords: [title] };
    assert.equal((await use('update_images', { ...both, dryRun: true })).result.changed, 2);
    const { result: updated } = await use('update_images', both);
    assert.equal(updated.changed, 2);
    assert.equal((await use('list_images', { keyword: title })).results.length, 2);
    assert.equal((await use('undo_changes', { changeId: updated.changeId })).result.undone, 2);
  }
  return worked;
}

/** Checks the result of `tools/list`. */
export function checkToolList(tools, url) {
  assert.deepEqual(tools.map(({ name }) => name), toolNames(url));
  for (const { name, inputSchema, outputSchema, annotations } of tools) {
    assert.equal(inputSchema.type, 'object', name);
    assert.equal(outputSchema !== undefined, url.pathname.endsWith('/v2'), name);
    assert.equal(typeof annotations.readOnlyHint, 'boolean', name);
  }
  const { _meta: meta } = tools.find(({ name }) => name === 'show_images');
  assert.equal(meta.ui.resourceUri, GALLERY);
}

/** Checks the prompts. `get(name, args)` returns the client's result of `prompts/get`. */
export async function usePrompts(prompts, get, url) {
  const names = ['find_photo', 'make_trip_album', 'tidy_last_month', 'describe_photos'];
  assert.deepEqual(prompts.map(({ name }) => name), url.pathname.endsWith('/legacy') ? names.slice(0, 1) : names);
  for (const { name, title, description, arguments: args = [] } of prompts) {
    assert.ok(title && description, name);
    const given = Object.fromEntries(args.map((argument) => [argument.name, 'Lisbon']));
    const { messages } = await get(name, given);
    assert.equal(messages.length, 1, name);
    assert.equal(messages[0].role, 'user', name);
    assert.match(messages[0].content.text, /show_images/, name);
  }
}

/** Checks the results of `resources/list` and of `resources/read` for the photo app. */
export function checkGallery({ resources }, { contents }, url) {
  const entry = resources.find(({ uri }) => uri === GALLERY);
  assert.equal(entry?.mimeType, APP_PAGE);
  assert.equal(contents.length, 1);
  const [{ uri, mimeType, text, _meta: meta }] = contents;
  assert.deepEqual([uri, mimeType], [GALLERY, APP_PAGE]);
  assert.match(text, /^<!doctype html>/i);
  // The app may load photos from the service.
  assert.ok(meta.ui.csp.resourceDomains.includes(url.origin), JSON.stringify(meta));
}
