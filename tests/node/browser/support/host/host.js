// A small MCP Apps host built from the official packages: a client of the library, and the bridge to the app's frame.

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { AppBridge, PostMessageTransport, RESOURCE_MIME_TYPE, getToolUiResourceUri } from '@modelcontextprotocol/ext-apps/app-bridge';

// The transport logs each message.
console.debug = () => {};

const INFO = { name: 'host-of-the-tests', version: '1' };

/** What the app sent, for tests to check. */
const seen = { calls: [], answers: 0, sizes: [], contexts: [], links: [], modes: [] };
/** A test's hook between the app and the library: gets the call and a function that sends it on, and returns the result. */
let between = (params, call) => call(params);
let bridge;
let client;
let frame;
let pings = 0;

/** The client also requests an event stream. The library has none, and the browser would log the failed request. */
const fetchWithoutStream = (url, init) => (init?.method === 'GET' ? new Response(null, { status: 405 }) : fetch(url, init));

/** Connects to the library and opens a tool's app in its frame. */
async function open({ url, key, sandbox, tool, capabilities, context }) {
  client = new Client(INFO, {
    capabilities: { extensions: { 'io.modelcontextprotocol/ui': { mimeTypes: [RESOURCE_MIME_TYPE] } } },
  });
  const requestInit = { headers: { authorization: `Bearer ${key}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit, fetch: fetchWithoutStream }));
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
  frame = document.createElement('iframe');
  frame.title = 'Frame of an app';
  // The policy allows what the app declares and nothing else.
  frame.src = `${sandbox}?${new URLSearchParams({ images: csp.resourceDomains.join(' ') })}`;
  document.body.append(frame);
  bridge.oncalltool = async (params) => {
    seen.calls.push(structuredClone(params));
    try {
      return await between(params, (changed) => client.callTool(changed));
    } finally {
      // In its own task, which runs after the bridge has sent the result.
      setTimeout(() => (seen.answers += 1));
    }
  };
  await bridge.connect(new PostMessageTransport(frame.contentWindow, frame.contentWindow));
  await opened;
  return csp;
}

/** Waits until the app has handled every message sent so far: messages arrive in order, so it sends a ping and waits for the reply. */
function settled() {
  const id = `ping-${(pings += 1)}`;
  const replied = new Promise((resolve) => {
    const listen = ({ data }) => {
      if (data.id !== id || data.method) return;
      window.removeEventListener('message', listen);
      resolve();
    };
    window.addEventListener('message', listen);
  });
  frame.contentWindow.postMessage({ jsonrpc: '2.0', id, method: 'ping', params: {} }, '*');
  return replied;
}

window.host = {
  seen,
  open,
  settled,
  /** Tells the app which call the model is about to make. */
  async announce(args) {
    await bridge.sendToolInput({ arguments: args });
    await settled();
  },
  /** Gives the app the result of a call. */
  async give(result) {
    await bridge.sendToolResult(result);
    await settled();
  },
  /** Calls the tool as a model does and gives the app the result, which `change` may alter. */
  async show(tool, args, change = (result) => result) {
    await bridge.sendToolInput({ arguments: args });
    const result = change(await client.callTool({ name: tool, arguments: args }));
    await window.host.give(result);
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
