// The upload on the page of photo sync.

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

/** Chooses files, once the script has replaced the plain form. */
export const choose = (page, files) => page.locator('#upload .drop input[type="file"]').first().setInputFiles(files);

/** The text about the upload as a whole. */
export const summary = (page) => page.locator('#upload-summary').textContent();

/** A button of the upload. */
export const button = (page, name) => page.locator('#upload').getByRole('button', { name });

/** The remark of the page about the files that were chosen last. */
export const remark = (page) => page.locator('#upload > .notice');

/** The texts about files that were not uploaded. */
export const reasons = (page) => page.locator('#upload .uploads').last().locator('li').allTextContents();

/** Waits until every file has an outcome; returns the summary. */
export async function isFinished(page) {
  await page.waitForFunction(() => document.getElementById('upload-summary')?.textContent.startsWith('Finished'));
  return summary(page);
}

/** Waits until at least this many files have an outcome. */
export const hasFinished = (page, count) =>
  page.waitForFunction((expected) => {
    const text = document.getElementById('upload-summary')?.textContent ?? '';
    return Number(/(\d+) of /.exec(text)?.[1] ?? 0) >= expected;
  }, count);
