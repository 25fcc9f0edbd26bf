// The upload on every page.

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Writes files into a new folder, with the same times each run. Returns their paths and a function that deletes them. */
export async function written(files) {
  const folder = await mkdtemp(join(tmpdir(), 'upload-'));
  const paths = files.map(({ name }) => join(folder, name));
  await Promise.all(files.map(({ buffer }, place) => writeFile(paths[place], buffer)));
  return { paths, remove: () => rm(folder, { recursive: true }) };
}

/** Chooses files on the page of photo sync or the start page, before or after the script has replaced the plain form. */
export const choose = (page, files) => page.locator('#upload .drop input[type="file"]').first().setInputFiles(files);

/** Chooses files with the button in the header. */
export async function chooseInHeader(page, files) {
  const [chooser] = await Promise.all([page.waitForEvent('filechooser'), page.getByRole('button', { name: 'Upload', exact: true }).click()]);
  await chooser.setFiles(files);
}

/** Dispatches an event with files, `drop` or `paste`, as if they came from another program. Returns whether the page took them. */
export const give = (page, files, type = 'drop', text) =>
  page.evaluate(([files, type, text]) => {
    const data = new DataTransfer();
    for (const { name, mimeType, bytes } of files) data.items.add(new File([Uint8Array.from(atob(bytes), (char) => char.charCodeAt(0))], name, { type: mimeType, lastModified: 1 }));
    if (text) data.setData('text/plain', text);
    const options = { bubbles: true, cancelable: true, dataTransfer: data, clipboardData: data };
    const event = type === 'paste' ? new ClipboardEvent(type, options) : new DragEvent(type, options);
    return !(document.activeElement ?? document.body).dispatchEvent(event);
  }, [files.map(({ name, mimeType, buffer }) => ({ name, mimeType, bytes: buffer.toString('base64') })), type, text]);

/** The text about the upload as a whole. */
export const summary = (page) => page.locator('#upload-summary').textContent();

/** A button of the upload. */
export const button = (page, name) => page.locator('#upload, #tray').getByRole('button', { name, exact: true });

/** The remark of the page about the files that were chosen last. */
export const remark = (page) => page.locator('#tray .notice:not(.warn)');

/** The names of the files that were not uploaded, with the reasons. */
export const reasons = (page) =>
  page.locator('#tray .reasons li').evaluateAll((rows) => rows.map((row) => `${row.querySelector('.name').textContent}: ${row.querySelector('.state').textContent}`));

/** Waits until every file has an outcome; returns the summary. */
export async function isFinished(page) {
  await page.locator('#tray[data-state="done"]').waitFor();
  return summary(page);
}

/** Waits until at least this many files have an outcome. */
export const hasFinished = (page, count) =>
  page.waitForFunction((expected) => {
    const text = document.getElementById('upload-summary')?.textContent ?? '';
    return Number(/(\d+) of /.exec(text)?.[1] ?? 0) >= expected;
  }, count);
