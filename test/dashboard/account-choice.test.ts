/** One account alone, chosen in the top bar: what each page shows then, and to whom. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { aSchedule } from '../support/builders.ts';
import { findIn } from '../support/findings.ts';
import { workedOn } from '../support/worked-on.ts';
import { browserOfFile, complaintsOf, isInBrowser, openPage } from './chromium.ts';
import {
  anAccount,
  aPolicy,
  aRun,
  ended,
  remember,
  type Seen,
  startWorld,
  textOf,
  usersOf,
  type World,
} from './world.ts';

const browser = browserOfFile(isInBrowser);
/** The long file has those in a browser alone. */
const overHttp = test.skipIf(isInBrowser());
/** Only read by the tests, but for the last one. */
let both: World;
beforeAll(async () => {
  both = await start();
});
afterAll(() => both.stop());

/** Two accounts, each with a policy, a run with a failed site, and a finding. */
async function start(): Promise<World> {
  const accounts = ['hotels', 'shops'];
  const world = await startWorld({
    access: () => usersOf({ hugo: [{ role: 'viewer', accounts: ['hotels'] }] }),
    accounts: async () => accounts.map((account) => anAccount({ account })),
    policies: () => accounts.map((account) => aPolicy(`sync-${account}`, { account, schedule: aSchedule() })),
  });
  const now = Date.now();
  for (const account of accounts) {
    const policy = `sync-${account}`;
    const run = aRun({ id: `${policy}.1`, policy, account, createdAt: now - 60_000 });
    const failed = { reason: 'timeout', label: `${account}.example` } as const;
    await workedOn(world.records, run, [ended(`site-of-${account}`, 'failed', failed)]);
    await world.records.runs.move(run, 'failed', { at: now });
    await remember(world.records, aRun({ id: `${policy}.2`, policy, account, createdAt: now }), []);
    const target = `found-in-${account}`;
    await findIn(world.records, { policy, account, at: now, found: [{ target }] });
  }
  return world;
}

/** The content of a page, without the frame around it. */
const mainOf = ({ html }: Seen): string => html.slice(html.indexOf('<main'), html.indexOf('</main>'));

const pages = ['/', '/policies', '/runs', '/findings', '/sites', '/schedule', '/budget'];

overHttp.each(pages)(
  '%s shows only the account of the address, and all accounts without one',
  async (path) => {
    const all = mainOf(await both.look(path));
    const one = mainOf(await both.look(`${path}?account=hotels`));
    const none = mainOf(await both.look(`${path}?account=no-such-account`));

    expect(all).toContain('hotels');
    expect(all).toContain('shops');
    expect(one).toContain('hotels');
    expect(one).not.toContain('shops');
    expect(none).not.toMatch(/hotels|shops/);
  },
);

overHttp(
  'the choice has only the accounts that the reader may see, and the address of another one shows nothing',
  async () => {
    for (const path of pages) {
      const { html } = await both.look(path, 'hugo');
      expect(html).not.toContain('shops');
      // It is the only one: there is nothing to choose.
      expect(html).not.toContain('account-menu');
      expect(mainOf(await both.look(`${path}?account=shops`, 'hugo'))).not.toMatch(
        /sync-shops|site-of-shops|found-in-shops/,
      );
    }
  },
);

overHttp('the counters of the sidebar count the account that the page shows', async () => {
  const sidebar = async (path: string) => {
    const { html } = await both.look(path);
    return textOf(html.slice(html.indexOf('<nav class="side"'), html.indexOf('</nav>')));
  };
  expect(await sidebar('/runs')).toMatch(/Runs 2 .*Findings 2 /);
  expect(await sidebar('/runs?account=hotels')).toMatch(/Runs 1 .*Findings 1 /);
});

const open = (path: string): Promise<Page> => openPage(browser(), both.dashboard.url, path);

test.runIf(isInBrowser())(
  'an account is chosen in the top bar, stays chosen from page to page, and all are shown again',
  async () => {
    const page = await open('/runs?status=failed');
    const complaints = complaintsOf(page, both.dashboard.url);

    await page.getByRole('button', { name: 'Account: All accounts' }).click();
    await page.getByRole('link', { name: 'hotels', exact: true }).click();
    await page.waitForURL('**/runs?status=failed&account=hotels');
    expect(await page.locator('tbody tr').count()).toBe(1);

    const sidebar = page.getByRole('navigation', { name: 'Main' });
    await sidebar.getByRole('link', { name: /^Findings/ }).click();
    await page.waitForURL('**/findings?account=hotels');
    // A page about one thing has no choice, and keeps it.
    await page.getByRole('link', { name: 'sync-hotels', exact: true }).first().click();
    await page.waitForURL('**/policies/sync-hotels');
    expect(await page.getByRole('button', { name: /^Account/ }).count()).toBe(0);
    await sidebar.getByRole('link', { name: 'Schedule' }).click();
    await page.waitForURL((url) => url.searchParams.get('account') === 'hotels');

    await page.getByRole('button', { name: 'Account: hotels' }).click();
    await page.getByRole('link', { name: 'All accounts', exact: true }).click();
    await page.waitForURL((url) => !url.searchParams.has('account'));
    await sidebar.getByRole('link', { name: 'Overview' }).click();
    await page.waitForURL((url) => url.pathname === '/' && url.search === '');
    expect(complaints).toEqual([]);
  },
);

test.runIf(isInBrowser())('a page of one account stays so when it is brought up to date', async () => {
  const page = await open('/?account=hotels');
  const now = Date.now();
  for (const account of ['shops', 'hotels']) {
    const run = aRun({ id: `new.${account}`, policy: `sync-${account}`, account, createdAt: now });
    await remember(both.records, run, [ended('a', 'succeeded')]);
  }
  await page.getByText('1 of 1').first().waitFor();
  expect(await page.locator('main').textContent()).not.toContain('shops');
});
