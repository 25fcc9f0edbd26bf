// The resource that an OAuth client uses: with `EXAMPLE_URL` that of an example service of `oauth-core`, otherwise an MCP
// resource of the service under test.
import assert from 'node:assert/strict';
import { Person } from './person.mjs';

async function photoLibrary() {
  const { checkToolAnswer, mcpUrl, person, toolCall } = await import('./service.mjs');
  return {
    url: mcpUrl,
    request: { method: 'POST', ...toolCall },
    check: checkToolAnswer,
    person: person(),
    hasSignedTokens: true,
  };
}

function exampleService(url) {
  return {
    url: new URL(url),
    request: { method: 'GET' },
    async check(answer) {
      assert.deepEqual([answer.status, await answer.text()], [200, 'the photos of user 1']);
    },
    person: new Person(process.env.EMAIL, process.env.PASSWORD),
    hasSignedTokens: false,
  };
}

const { EXAMPLE_URL: example } = process.env;

/**
 * The URL of the resource, a request to it, the check of the response, the person who consents, and whether access tokens are
 * signed.
 */
export const resource = example ? exampleService(example) : await photoLibrary();
