// The system's Firefox, driven by WebDriver BiDi.

import playwright from 'playwright-core';
import { TIMEOUT_MS } from './watch.mjs';

/** A command of BiDi that playwright-core sends for each page, and that Firefox 153 does not know. */
const MEDIA_FEATURES = 'emulation.setMediaFeaturesOverride';
const PREFERENCES = {
  // This preference replaces that command.
  'ui.prefersReducedMotion': 1,
  // Reports a mouse: a fine pointer (2) that can hover (4). Without a screen, Firefox reports no pointer.
  'ui.primaryPointerCapabilities': 6,
  'ui.allPointerCapabilities': 6,
  // Disables the cache of pages, because playwright-core waits for a document to load also after Back.
  'browser.sessionhistory.max_total_viewers': 0,
};

/** Starts Firefox. */
export async function launchFirefox() {
  const executablePath = process.env.FIREFOX;
  if (!executablePath) throw new Error('FIREFOX must be the path of the browser');
  const options = { channel: 'moz-firefox', executablePath, firefoxUserPrefs: PREFERENCES, timeout: TIMEOUT_MS };
  const browser = await playwright.firefox.launch(options);
  // There is no public interface to the session.
  const session = Object.getPrototypeOf(browser._connection.toImpl(browser)._browserSession);
  const { send } = session;
  session.send = async function (method, parameters) {
    try {
      return await send.call(this, method, parameters);
    } catch (error) {
      if (method === MEDIA_FEATURES && /unknown command/.test(error.message)) return {};
      throw error;
    }
  };
  return browser;
}
