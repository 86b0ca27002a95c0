/** Several runs are selected and cancelled in a real browser, by pointer and by keyboard. */
import type { BrowserContextOptions } from 'playwright-core';
import { afterEach, expect, test } from 'vitest';
import { aTarget } from '../support/builders.ts';
import { browserOfFile, complaintsOf, openPage, withoutBrowser } from './chromium.ts';
import { aPolicy, aRun, remember, startWorld, type World } from './world.ts';

const browser = browserOfFile();
let world: World;
afterEach(() => world?.stop());

async function openRuns(options: BrowserContextOptions = {}) {
  world = await startWorld();
  const now = Date.now();
  for (const at of [1, 2, 3])
    await remember(world.records, aRun({ id: `sync.${at}`, createdAt: now - at * 1000 }), [aTarget('a')]);
  return openPage(browser(), world.dashboard.url, '/runs', options);
}
const endingOf = async (id: string) => (await world.records.runs.get(id))?.ending;

test.skipIf(withoutBrowser)('two runs are selected, and cancelled after the question', async () => {
  const page = await openRuns();
  const complaints = complaintsOf(page, world.dashboard.url);
  const button = page.getByRole('button', { name: 'Cancel selected' });
  expect(await button.isDisabled()).toBe(true);

  await page.getByRole('checkbox', { name: 'Select sync.1' }).check();
  await page.getByRole('checkbox', { name: 'Select sync.3' }).check();
  await page.getByRole('button', { name: 'Cancel 2 runs' }).click();
  const question = page.getByRole('dialog', { name: 'Cancel 2 runs?' });
  await question.getByText('2 targets have not ended').waitFor();
  expect(new URL(page.url()).pathname).toBe('/runs');
  await page.keyboard.press('Escape');
  await question.waitFor({ state: 'hidden' });
  expect(await page.getByRole('checkbox', { name: 'Select sync.3' }).isChecked()).toBe(true);
  expect(await endingOf('sync.1')).toBeUndefined();
  await page.getByRole('button', { name: 'Cancel 2 runs' }).click();
  await question.getByRole('button', { name: 'Cancel 2 runs', exact: true }).click();

  await page.getByText('2 runs cancelled.').waitFor();
  await page.getByRole('link', { name: 'Show them' }).click();
  await page.waitForURL('**/runs?status=active');
  expect(await Promise.all(['sync.1', 'sync.2', 'sync.3'].map(endingOf))).toEqual([
    'cancelled',
    undefined,
    'cancelled',
  ]);
  expect(complaints).toEqual([]);
});

test.skipIf(withoutBrowser)(
  'without the script the question about several runs is a page of its own',
  async () => {
    const page = await openRuns({ javaScriptEnabled: false });

    await page.getByRole('checkbox', { name: 'Select sync.1' }).check();
    await page.getByRole('button', { name: 'Cancel selected' }).click();
    await page.waitForURL('**/bulk/cancel?*');
    await page.getByRole('button', { name: 'Cancel 1 run' }).click();

    await page.getByText('1 run cancelled.').waitFor();
    expect(new URL(page.url()).pathname).toBe('/runs');
    expect(await Promise.all(['sync.1', 'sync.2'].map(endingOf))).toEqual(['cancelled', undefined]);
  },
);

test.skipIf(withoutBrowser)(
  'the keyboard moves over the rows, selects with x, and opens with Enter',
  async () => {
    const page = await openRuns();

    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await page.keyboard.press('x');
    expect(await page.getByRole('checkbox', { name: 'Select sync.2' }).isChecked()).toBe(true);
    expect(await page.getByRole('button', { name: 'Cancel 1 run' }).isEnabled()).toBe(true);
    await page.keyboard.press('Enter');
    await page.waitForURL('**/runs/sync.2');
  },
);

test.skipIf(withoutBrowser)('a selection is kept when a new run appears', async () => {
  const page = await openRuns();
  await page.getByRole('checkbox', { name: 'Select all' }).check();
  await page.getByRole('button', { name: 'Cancel 3 runs' }).waitFor();

  await remember(world.records, aRun({ id: 'sync.new', createdAt: Date.now() }), [aTarget('a')]);

  const added = page.getByRole('checkbox', { name: 'Select sync.new' });
  await added.waitFor();
  expect(await added.isChecked()).toBe(false);
  expect(await page.getByRole('checkbox', { name: 'Select sync.1' }).isChecked()).toBe(true);
  await page.getByRole('button', { name: 'Cancel 3 runs' }).waitFor();
});

test.skipIf(withoutBrowser)('two policies are selected, and paused after the question', async () => {
  const policies = ['sync-1', 'sync-2', 'sync-3'].map((name) => aPolicy(name));
  world = await startWorld({ policies: () => policies });
  const page = await openPage(browser(), world.dashboard.url, '/policies?group=job');
  const complaints = complaintsOf(page, world.dashboard.url);

  await page.getByRole('checkbox', { name: 'Select sync-1' }).check();
  await page.getByRole('checkbox', { name: 'Select sync-3' }).check();
  await page.getByRole('button', { name: 'Pause 2 policies' }).click();
  const question = page.getByRole('dialog', { name: 'Pause 2 policies?' });
  await question.getByLabel('Reason').fill('The sale');
  await question.getByRole('button', { name: 'Pause 2 policies', exact: true }).click();

  await page.getByText('2 policies paused.').waitFor();
  expect(new URL(page.url()).search).toBe('?group=job');
  const states = await world.records.policies.many(policies);
  expect(['sync-1', 'sync-2', 'sync-3'].map((name) => states.get(name)?.pause?.reason)).toEqual([
    'The sale',
    undefined,
    'The sale',
  ]);
  expect(complaints).toEqual([]);
});
