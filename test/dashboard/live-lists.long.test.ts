/** The pages of findings and of sites while somebody has them open: what runs find and do appears in place. */
import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { findIn } from '../support/findings.ts';
import { workedOn } from '../support/worked-on.ts';
import { launch, openPage, withoutBrowser } from './chromium.ts';
import { aPolicy, aRun, ended, startWorld, type World } from './world.ts';

let browser: Browser;
let world: World;
beforeAll(async () => {
  if (!withoutBrowser) browser = await launch();
});
afterAll(() => browser?.close());
afterEach(() => world?.stop());

/** Opens a page, and fails the test if it is loaded again afterwards. */
async function openOnce(path: string) {
  const page = await openPage(browser, world.dashboard.url, path);
  const loads: string[] = [];
  page.on('framenavigated', (frame) => loads.push(frame.url()));
  return { page, loads };
}

test.skipIf(withoutBrowser)(
  'a finding that a run reports appears on the open page, and one that it resolves leaves',
  async () => {
    world = await startWorld({ policies: () => [aPolicy('stale-backups')] });
    const { records } = world;
    await findIn(records, { at: Date.now(), found: [{ target: 'a' }, { target: 'b' }] });
    const { page, loads } = await openOnce('/findings');
    const row = (site: string) => page.locator('#findings tr[data-key]', { hasText: `${site}.example` });
    await row('b').waitFor();
    const counter = page.getByRole('link', { name: 'Findings' });
    expect(await counter.first().textContent()).toContain('2');

    await findIn(records, { at: Date.now(), found: ['a', 'c', 'd'].map((target) => ({ target })) });

    await row('c').waitFor();
    await row('d').waitFor();
    await row('b').waitFor({ state: 'detached' });
    await row('a').waitFor();
    await page.locator('#finding-groups').getByRole('link', { name: '3' }).first().waitFor();
    await expect.poll(() => counter.first().textContent()).toContain('3');
    expect(loads).toEqual([]);
  },
);

test.skipIf(withoutBrowser)(
  'a site that is worked on for the first time appears on the open page, and its result changes in place',
  async () => {
    world = await startWorld({ policies: () => [aPolicy('nightly-sync')] });
    const { records } = world;
    const a = { label: 'a.example' };
    await workedOn(records, aRun({ id: 'first', createdAt: Date.now() }), [ended('a', 'succeeded', a)]);
    const { page, loads } = await openOnce('/sites');
    const row = (site: string) => page.locator('#sites tr[data-key]', { hasText: `${site}.example` });
    await row('a').getByText('succeeded').waitFor();

    await workedOn(records, aRun({ id: 'second', createdAt: Date.now() + 1_000 }), [
      ended('a', 'failed', a),
      ended('b', 'succeeded', { label: 'b.example' }),
    ]);

    await row('b').getByText('succeeded').waitFor();
    await row('a').getByText('failed').waitFor();
    expect(loads).toEqual([]);
  },
);
