import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';
import { afterAll, expect, test } from 'vitest';
import { aRun, aTarget, ended, PASSWORD, remember, startWorld } from './world.ts';

const executable = findChromium();
let browser: Browser | undefined;
afterAll(() => browser?.close());

// In CI a missing browser is a failure, not a reason to skip.
const skipped = executable === undefined && process.env['CI'] !== 'true';
if (skipped)
  process.stderr.write('SKIPPED: no chromium is installed, so the dashboard is not tried in a browser\n');

test.skipIf(skipped)('a person signs in, watches a run to its end, and looks at the queues', async () => {
  const world = await startWorld();
  await remember(world.records, aRun(), [ended('a', 'succeeded'), aTarget('b')]);
  const args = '--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking';
  browser = await chromium.launch({
    executablePath: executable ?? 'chromium',
    args: [...args.split(' '), '--disable-component-update', '--disable-sync'],
  });
  const page = await browser.newPage();
  const errors: string[] = [];
  page.on('pageerror', ({ message }) => errors.push(message));
  page.on('console', (said) => {
    if (said.type() === 'error' && !page.url().includes('/queues')) errors.push(said.text());
  });

  await page.goto(`${world.dashboard.url}/runs/${aRun().id}`);
  const listening = page.waitForResponse('**/events');
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'nightly-sync running' }).waitFor();
  await listening;

  await world.records.runs.move(aRun(), 'stopped', { at: Date.now(), detail: 'A limit tripped.' });
  await page.getByText('A limit tripped.').waitFor();

  await page.getByRole('link', { name: 'Queues' }).click();
  await page.getByRole('link', { name: 'actions' }).first().waitFor();

  expect(errors).toEqual([]);
  await world.stop();
});

function findChromium(): string | undefined {
  const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  return folders.flatMap((folder) => names.map((name) => join(folder, name))).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
