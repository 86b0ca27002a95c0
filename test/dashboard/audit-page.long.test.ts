/** The audit log as a page: each line opens to its facts. */
import { afterEach, expect, test } from 'vitest';
import type { AuditLine } from '../../src/records/audit-store.ts';
import { browserOfFile, complaintsOf, openPage, withoutBrowser } from './chromium.ts';
import { startWorld, type World } from './world.ts';

const browser = browserOfFile();
let world: World;
afterEach(() => world?.stop());

const line: AuditLine = {
  act: '5f0c',
  at: Date.now(),
  result: 'refused',
  who: { kind: 'token', name: 'ci' },
  from: '192.0.2.7',
  what: 'runs.cancel',
  policy: 'nightly-sync',
  account: 'default',
  run: 'nightly-sync.1',
  why: 'The client moves house',
  code: 'RUN',
  message: 'The run has already ended: partial.',
};

test.skipIf(withoutBrowser)(
  'a line opens by the keyboard to who asked for what, from where, and what came of it',
  async () => {
    world = await startWorld();
    await world.records.audit.append(line, 86_400_000);
    const page = await openPage(browser(), world.dashboard.url, '/audit?who=ci');
    const complaints = complaintsOf(page, world.dashboard.url);
    const row = page.locator('tbody tr').first();
    const facts = page.locator('.audit-facts');
    expect(await facts.isVisible()).toBe(false);

    await row.locator('summary').focus();
    await page.keyboard.press('Enter');

    await facts.waitFor();
    const shown = await facts.locator('dl > div').allInnerTexts();
    expect(shown.map((fact) => fact.split('\n').filter(Boolean))).toEqual([
      ['Who', 'ci (token of the configuration)'],
      ['From', '192.0.2.7'],
      ['What', 'runs.cancel'],
      ['Policy', 'nightly-sync'],
      ['Account', 'default'],
      ['Run', 'nightly-sync.1'],
      ['Reason', 'The client moves house'],
      ['Act', '5f0c'],
      ['Result', 'refused'],
      ['Time', expect.stringContaining('just now')],
      ['Error', 'RUN'],
      ['Message', 'The run has already ended: partial.'],
    ]);
    await facts.getByRole('link', { name: 'nightly-sync.1' }).click();
    await page.waitForURL('**/runs/nightly-sync.1');
    // The run is none of this world.
    expect(complaints.filter((one) => !one.includes('404'))).toEqual([]);
  },
);
