// The service under test: the MCP URL, an email and a password from the environment, and checks of results.
import assert from 'node:assert/strict';
import { Person } from './person.mjs';

function setting(name) {
  const value = process.env[name];
  assert.ok(value, `the environment variable ${name} is missing`);
  return value;
}

/** The only URL that a client gets. */
export const mcpUrl = new URL(setting('MCP_URL'));

/** The URL of another MCP resource of the service: `v2` or `legacy`. */
export const siblingUrl = (name) => new URL(name, mcpUrl);

/** A person with an account, in a new browser. */
export const person = () => new Person(setting('EMAIL'), setting('PASSWORD'));

/** Checks the result of the tool `list_images`: it has photos, and the first can be loaded. */
export async function checkPhotos({ content, isError }) {
  assert.ok(!isError, content[0].text);
  const { source, results } = JSON.parse(content[0].text);
  assert.equal(source, 'photo-library');
  assert.ok(results.length > 0, 'the library has photos');
  await checkRendition(results[0].url);
}

/** Checks that a signed URL returns a photo without credentials. */
export async function checkRendition(url) {
  const photo = await fetch(url);
  assert.equal(photo.status, 200);
  assert.equal(photo.headers.get('content-type'), 'image/webp');
  assert.ok((await photo.arrayBuffer()).byteLength > 0);
}

/** A request that calls a tool, for clients without MCP. */
export const toolCall = {
  body: JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'list_images', arguments: { limit: 1 } },
  }),
  headers: new Headers({
    accept: 'application/json, text/event-stream',
    'content-type': 'application/json',
    'mcp-protocol-version': '2025-11-25',
  }),
};

/** Checks the response to that request. */
export async function checkToolAnswer(answer) {
  const text = await answer.text();
  assert.equal(answer.status, 200, text);
  await checkPhotos(JSON.parse(text).result);
}
