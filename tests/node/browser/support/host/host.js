// A small host of apps, made of the official parts: a client of the library, and the bridge to the app's frame.

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { AppBridge, PostMessageTransport, RESOURCE_MIME_TYPE, getToolUiResourceUri } from '@modelcontextprotocol/ext-apps/app-bridge';

// The transport tells of each message.
console.debug = () => {};

const INFO = { name: 'host-of-the-tests', version: '1' };

/** What happened, for tests to look at. */
const seen = { calls: [], sizes: [], contexts: [], links: [], modes: [] };
/** What tests put between the app and the library: is given a call and the way on, and gives the answer. */
let between = (params, call) => call(params);
let bridge;
let client;

/** The client also asks whether the library has an event stream. It has none, which browsers would complain of. */
const ask = (url, init) => (init?.method === 'GET' ? new Response(null, { status: 405 }) : fetch(url, init));

/** Connects to the library and opens the app of a tool in its frame. */
async function open({ url, key, sandbox, tool, capabilities, context }) {
  client = new Client(INFO, {
    capabilities: { extensions: { 'io.modelcontextprotocol/ui': { mimeTypes: [RESOURCE_MIME_TYPE] } } },
  });
  const requestInit = { headers: { authorization: `Bearer ${key}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit, fetch: ask }));
  const { tools } = await client.listTools();
  const uri = getToolUiResourceUri(tools.find(({ name }) => name === tool));
  const { contents } = await client.readResource({ uri });
  const [{ text: html, mimeType, _meta }] = contents;
  if (mimeType !== RESOURCE_MIME_TYPE) throw new Error(`the app is ${mimeType}`);
  const { csp } = _meta.ui;

  bridge = new AppBridge(null, INFO, capabilities, { hostContext: context });
  const opened = new Promise((resolve) => bridge.addEventListener('initialized', resolve));
  bridge.addEventListener('sandboxready', () => bridge.sendSandboxResourceReady({ html, csp, sandbox: 'allow-scripts' }));
  bridge.addEventListener('sizechange', (size) => {
    seen.sizes.push(size);
    frame.style.height = `${size.height}px`;
  });
  bridge.onupdatemodelcontext = async ({ content }) => {
    seen.contexts.push(content.map(({ text }) => text));
    return {};
  };
  bridge.onopenlink = async ({ url }) => {
    seen.links.push(url);
    return {};
  };
  bridge.onrequestdisplaymode = async ({ mode }) => {
    seen.modes.push(mode);
    frame.style.height = mode === 'fullscreen' ? '100vh' : `${seen.sizes.at(-1)?.height ?? 240}px`;
    return { mode };
  };
  const frame = document.createElement('iframe');
  frame.title = 'Frame of an app';
  // The policy is made of what the app declares, and of nothing else.
  frame.src = `${sandbox}?${new URLSearchParams({ images: csp.resourceDomains.join(' ') })}`;
  document.body.append(frame);
  bridge.oncalltool = async (params) => {
    seen.calls.push(structuredClone(params));
    return between(params, (changed) => client.callTool(changed));
  };
  await bridge.connect(new PostMessageTransport(frame.contentWindow, frame.contentWindow));
  await opened;
  return csp;
}

window.host = {
  seen,
  open,
  /** Calls the tool as a model does, and shows its answer to the app; `change` may change that. */
  async show(tool, args, change = (result) => result) {
    await bridge.sendToolInput({ arguments: args });
    const result = change(await client.callTool({ name: tool, arguments: args }));
    await bridge.sendToolResult(result);
    return result;
  },
  call: async (name, args) => client.callTool({ name, arguments: args }),
  put: (answer) => (between = answer),
  bridge: () => bridge,
  theme(theme) {
    document.documentElement.dataset.theme = theme;
    bridge.sendHostContextChange({ theme });
  },
};
