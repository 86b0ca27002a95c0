/** One account alone, chosen in the top bar: what each page shows then, and to whom. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { noAccess } from '../../src/access/access.ts';
import { aSchedule } from '../support/builders.ts';
import { cheapHash } from '../support/cheap-hash.ts';
import { findIn } from '../support/findings.ts';
import { workedOn } from '../support/worked-on.ts';
import { complaintsOf, isInBrowser, launch, openPage } from './chromium.ts';
import {
  anAccount,
  aPolicy,
  aRun,
  ended,
  postForm,
  remember,
  sessionOf,
  startWorld,
  textOf,
  type World,
} from './world.ts';

const PASSWORD_OF_ALL = 'the same for everybody';
const passwordHash = cheapHash(PASSWORD_OF_ALL);
let browser: Browser;
/** Only read by the tests, but for the last one. */
let both: World;
beforeAll(async () => {
  if (isInBrowser()) browser = await launch();
  both = await start();
});
afterAll(async () => {
  await browser?.close();
  await both.stop();
});

/** Two accounts, each with a policy, a run with a failed site, and a finding. */
async function start(accounts = ['hotels', 'shops']): Promise<World> {
  const grants = [{ role: 'viewer' as const, accounts: ['hotels'] }];
  const world = await startWorld({
    access: () => ({ ...noAccess, users: [{ name: 'hugo', passwordHash, grants }] }),
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
const mainOf = (html: string): string => html.slice(html.indexOf('<main'), html.indexOf('</main>'));

const pages = ['/', '/policies', '/runs', '/findings', '/sites', '/schedule', '/budget'];

test.each(pages)('%s shows only the account of the address, and all accounts without one', async (path) => {
  const ask = await both.signedIn();
  const all = mainOf(await (await ask(path)).text());
  const one = mainOf(await (await ask(`${path}?account=hotels`)).text());
  const none = mainOf(await (await ask(`${path}?account=no-such-account`)).text());

  expect(all).toContain('hotels');
  expect(all).toContain('shops');
  expect(one).toContain('hotels');
  expect(one).not.toContain('shops');
  expect(none).not.toMatch(/hotels|shops/);
});

test('the choice has only the accounts that the reader may see, and the address of another one shows nothing', async () => {
  const answer = await postForm(both.ask, both.dashboard.url, '/sign-in', {
    name: 'hugo',
    password: PASSWORD_OF_ALL,
  });
  const headers = { cookie: sessionOf(answer), accept: 'text/html' };
  for (const path of pages) {
    const html = await (await both.ask(path, { headers })).text();
    expect(html).not.toContain('shops');
    // It is the only one: there is nothing to choose.
    expect(html).not.toContain('account-menu');
    expect(mainOf(await (await both.ask(`${path}?account=shops`, { headers })).text())).not.toMatch(
      /sync-shops|site-of-shops|found-in-shops/,
    );
  }
});

test('with one account there is no choice', async () => {
  const world = await start(['hotels']);
  onTestFinished(world.stop);
  const ask = await world.signedIn();
  for (const path of pages) expect(await (await ask(path)).text()).not.toContain('account-menu');
});

test('the counters of the sidebar count the account that the page shows', async () => {
  const ask = await both.signedIn();
  const sidebar = async (path: string) => {
    const html = await (await ask(path)).text();
    return textOf(html.slice(html.indexOf('<nav class="side"'), html.indexOf('</nav>')));
  };
  expect(await sidebar('/runs')).toMatch(/Runs 2 .*Findings 2 /);
  expect(await sidebar('/runs?account=hotels')).toMatch(/Runs 1 .*Findings 1 /);
});

const open = (path: string): Promise<Page> => openPage(browser, both.dashboard.url, path);

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
