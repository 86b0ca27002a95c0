/** A page that stays open in a browser while what it needs is away, beside others, and while notices come. */
import type { Page } from 'playwright-core';
import { afterEach, expect, test } from 'vitest';
import { CaretakerError } from '../../src/errors.ts';
import { aTarget } from '../support/builders.ts';
import { browserOfFile, openPage, withoutBrowser } from './chromium.ts';
import { aPolicy, aRun, PASSWORD, remember, showDaemon, startWorld, type World } from './world.ts';

const browser = browserOfFile();
let world: World;
afterEach(() => world?.stop());

class Silent extends CaretakerError {
  readonly code = 'UNAVAILABLE';
}

const open = (path: string): Promise<Page> => openPage(browser(), world.dashboard.url, path);

test.skipIf(withoutBrowser)(
  'without Redis, session or server an open page says since when, and changes nothing, until it is current again',
  async () => {
    world = await startWorld({ policies: () => [aPolicy('nightly-sync')] });
    await remember(world.records, aRun({ createdAt: Date.now() }), [aTarget('a')]);
    const page = await open('/policies');
    const bar = page.getByRole('alert');
    const within = { timeout: 5_000 };
    const pause = page.getByRole('link', { name: 'Pause nightly-sync' });
    await pause.waitFor();

    await world.redis.kill();
    await bar.getByText(/no connection to Redis since \d\d:\d\d\. What you see/).waitFor(within);
    expect(await page.evaluate("getComputedStyle(document.querySelector('main > section')).filter")).toBe(
      'grayscale(1)',
    );
    await page.evaluate("document.querySelector('[data-asks]').click()");
    expect(await page.getByRole('dialog').count()).toBe(0);
    await world.redis.restart();
    await bar.waitFor({ state: 'detached' });
    expect(page.url()).toMatch(/policies$/);

    await page.evaluate("fetch('/sign-out', { method: 'POST' })");
    await bar.getByText('Your session has ended.').waitFor(within);
    await bar.getByRole('link', { name: 'Sign in' }).click();
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.waitForURL('**/policies');

    await pause.waitFor();
    // Without its script, which it may still be loading, a page says nothing.
    await page.waitForLoadState('load');
    await world.dashboard.close();
    await bar.getByText(/^No connection to Caretaker since \d\d:\d\d\./).waitFor(within);
  },
);

test.skipIf(withoutBrowser)(
  'while the service does not answer, a page of a plan goes on, and then says by itself who did not answer',
  async () => {
    let fail: (error: Error) => void = () => undefined;
    const answer = new Promise<never>((_resolve, reject) => {
      fail = reject;
    });
    world = await startWorld({ policies: () => [aPolicy('nightly-sync')], preview: () => answer });
    const [page, other] = [
      await open('/policies/nightly-sync/plan'),
      await open('/policies/nightly-sync/plan'),
    ];
    await page.getByRole('button', { name: 'Plan', exact: true }).click();
    await other.getByText('admin is planning').waitFor();
    // Other pages do not wait for it.
    await other.goto(`${world.dashboard.url}/policies`);
    await other.getByRole('link', { name: 'Pause nightly-sync' }).waitFor();
    await other.goBack();

    fail(new Silent('The service did not answer listSites.'));

    await other.getByText('could not be made: The service did not answer listSites.').waitFor();
    await page.getByText('The service did not answer listSites.').first().waitFor();
  },
);

test.skipIf(withoutBrowser)('seven windows of one browser are all kept current', async () => {
  world = await startWorld();
  const first = await open('/runs');
  const pages = [first];
  while (pages.length < 7) {
    const page = await first.context().newPage();
    await page.goto(first.url());
    pages.push(page);
  }

  await remember(world.records, aRun({ id: 'newer', createdAt: Date.now() }), []);

  for (const page of pages) await page.getByRole('link', { name: 'newer' }).first().waitFor();
});

test.skipIf(withoutBrowser)(
  'a new notice changes the status and moves nothing; it opens by a click',
  async () => {
    world = await startWorld();
    await showDaemon(world.records, ['worker', 'scheduler'], Date.now());
    const targets = Array.from({ length: 60 }, (_, at) => aTarget(`s${at}`));
    await remember(world.records, aRun(), targets);
    const page = await open(`/runs/${aRun().id}`);
    await page.getByRole('button', { name: 'No notices' }).waitFor();
    const heading = page.getByRole('heading', { name: 'nightly-sync running' });
    const before = await heading.boundingBox();

    await world.records.accounts.block('default', { since: 1, why: 'HTTP 401' });
    await world.records.runs.move(aRun(), 'blocked', { at: Date.now() });

    const status = page.getByRole('button', { name: '1 notice' });
    await status.waitFor();
    const after = await page.getByRole('heading', { name: 'nightly-sync blocked' }).boundingBox();
    expect(after?.y).toBe(before?.y);
    await status.click();
    await page.getByText('The account default refuses access').waitFor();
    await page.keyboard.press('Escape');
    await page.getByText('The account default refuses access').waitFor({ state: 'hidden' });
  },
);
