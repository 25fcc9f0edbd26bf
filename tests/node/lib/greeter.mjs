// The steps of every client with the example server of `mcp-wire`, whose URL is in `GREETER_URL`.
import assert from 'node:assert/strict';

export const greeterUrl = new URL(process.env.GREETER_URL);

/** Connects, lists the tool, calls it, and makes mistakes. The client validates results against the output schema. */
export async function useGreeter(client, transport, revision) {
  await client.connect(transport);
  assert.equal(client.getNegotiatedProtocolVersion?.() ?? transport.protocolVersion, revision);
  assert.equal(client.getServerVersion().name, 'greeter');

  const { tools } = await client.listTools();
  assert.deepEqual(tools.map(({ name }) => name), ['greet']);
  const [{ inputSchema, outputSchema }] = tools;
  assert.deepEqual([inputSchema.required, outputSchema.required], [['name'], ['text']]);

  const call = (name, args) => client.callTool({ name, arguments: args });
  const greeted = await call('greet', { name: 'Ada' });
  assert.deepEqual(greeted.structuredContent, { text: 'Hello, Ada!' });
  assert.deepEqual(JSON.parse(greeted.content[0].text), greeted.structuredContent);

  for (const [args, message] of [[{}, /^name: is required/], [{ name: 1 }, /^name: /]]) {
    const { isError, content } = await call('greet', args);
    assert.equal(isError, true);
    assert.match(content[0].text, message);
  }
  await assert.rejects(call('leave', {}), { code: -32_602 });
  await client.close();
  console.log(`${revision}: ok`);
}
