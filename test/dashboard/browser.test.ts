/** What only a browser shows: live pages, focus, the keyboard, time zones, and how pages are laid out. */
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { CaretakerError } from '../../src/errors.ts';
import { aTarget } from '../support/builders.ts';
import { LONG_NAME, startBusyWorld } from './busy-world.ts';
import { launch, openPage, withoutBrowser } from './chromium.ts';
import { axeOf, layoutOf, onPages } from './judged-pages.ts';
import { aPolicy, aRun, ended, PASSWORD, remember, showDaemon, startWorld, type World } from './world.ts';

let browser: Browser;
let world: World;
beforeAll(async () => {
  if (!withoutBrowser) browser = await launch();
});
afterAll(() => browser?.close());
afterEach(async () => {
  for (const context of browser?.contexts() ?? []) await context.close();
  await world?.stop();
});

const schedule = {
  cron: ['0 2 * * *'],
  timezone: 'Europe/Berlin',
  jitterMs: 0,
  overlap: 'skip',
  catchupMs: 0,
  blackout: [],
} as const;

class Silent extends CaretakerError {
  readonly code = 'UNAVAILABLE';
}

const open = (path: string, options: BrowserContextOptions = {}): Promise<Page> =>
  openPage(browser, world.dashboard.url, path, options);

test.skipIf(withoutBrowser)('a person signs in and watches a run to its end', async () => {
  world = await startWorld();
  await remember(world.records, aRun(), [ended('a', 'succeeded')]);
  const page = await (await browser.newContext()).newPage();
  await page.goto(`${world.dashboard.url}/runs/${aRun().id}`);
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.waitForURL(`**/runs/${aRun().id}`);
  await page.getByRole('heading', { name: 'nightly-sync running' }).waitFor();

  await world.records.runs.move(aRun(), 'stopped', { at: Date.now(), detail: 'A limit tripped.' });

  await page.getByText('A limit tripped.').waitFor();
});

test.skipIf(withoutBrowser)('a new run appears on an open page, and the keyboard focus is kept', async () => {
  world = await startWorld({ policies: () => [aPolicy('nightly-sync')] });
  await world.records.policies.pause('nightly-sync', { at: Date.now(), by: 'kim' });
  await remember(world.records, aRun({ id: 'older', policy: 'older', createdAt: Date.now() }), []);
  const page = await open('/');
  await page.getByRole('heading', { name: 'older running' }).waitFor();
  await page.getByRole('link', { name: 'Resume nightly-sync' }).focus();

  await remember(world.records, aRun({ id: 'newer', policy: 'newer', createdAt: Date.now() }), []);

  await page.getByRole('heading', { name: 'newer running' }).waitFor();
  const focused = page.locator(':focus');
  expect(await focused.textContent()).toBe('Resume nightly-sync');
});

test.skipIf(withoutBrowser)(
  'a hidden page is not followed, and is brought up to date when it is shown',
  async () => {
    world = await startWorld();
    await remember(world.records, aRun(), [aTarget('a')]);
    const page = await open('/');
    await page.getByRole('heading', { name: 'nightly-sync running' }).waitFor();
    const hide = (hidden: boolean) =>
      page.evaluate(
        `Object.defineProperty(document, 'hidden', { value: ${hidden}, configurable: true });
       document.dispatchEvent(new Event('visibilitychange'));`,
      );
    const opened: string[] = [];
    page.on('request', (request) => opened.push(new URL(request.url()).pathname));

    await hide(true);
    await remember(world.records, aRun({ id: 'newer', policy: 'newer', createdAt: Date.now() }), []);
    expect(await page.getByRole('heading', { name: 'newer running' }).count()).toBe(0);
    await hide(false);

    await page.getByRole('heading', { name: 'newer running' }).waitFor();
    expect(opened).toEqual(['/events']);
  },
);

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
    await page.getByText('The account default is blocked').waitFor();
    await page.keyboard.press('Escape');
    await page.getByText('The account default is blocked').waitFor({ state: 'hidden' });
  },
);

test.skipIf(withoutBrowser)(
  "times are shown in the browser's time zone, with their distance from now",
  async () => {
    world = await startWorld({
      policies: () => [
        aPolicy('nightly-sync', { schedule: { ...schedule, cron: [...schedule.cron], blackout: [] } }),
      ],
    });
    await remember(world.records, aRun({ startedAt: Date.now() - 3 * 3_600_000 }), []);
    const page = await open('/policies/nightly-sync');

    const next = page
      .locator('div', { has: page.locator('dt', { hasText: 'Next run' }) })
      .locator('dd')
      .last();
    // Two at night in Berlin is in the morning in Tokyo, which has no summer time.
    await expect.poll(() => next.locator('time').first().textContent()).toMatch(/, (09|10):00$/);
    expect(await next.locator('.ago').first().textContent()).toMatch(/^in \d+ (s|min|h|d)$/);
    expect(await next.textContent()).toMatch(/02:00 Europe\/Berlin/);
    expect(await page.locator('#zone').textContent()).toContain('Asia/Tokyo');
  },
);

test.skipIf(withoutBrowser)(
  'times inside sentences are shown in the same time zone as all others, and in UTC on hover',
  async () => {
    world = await startWorld();
    const until = Date.UTC(new Date().getUTCFullYear() + 1, 11, 24, 20, 30);
    await world.records.freeze.begin({ at: Date.now(), by: 'anna', until });
    const why = 'No more runs before 2026-12-24 20:30Z.';
    await remember(world.records, aRun({ detail: why }), []);
    const page = await open(`/runs/${aRun().id}`);

    const notice = page.locator('#warnings .sentence', {
      hasText: 'Everything is frozen by anna until 25 Dec',
    });
    expect(await notice.textContent()).toMatch(/until 25 Dec \d{4}, 05:30: no run starts\./);
    expect(await notice.locator('time').first().getAttribute('title')).toMatch(/-12-24 20:30 UTC$/);
    expect(await page.locator('#summary .note').textContent()).toMatch(/before 25 Dec(?: \d{4})?, 05:30\.$/);
  },
);

// Only a browser lays out a page. The long suite judges every page at every width and in both themes.
test.skipIf(withoutBrowser)(
  'on a phone and on a desk, full pages fit, and neither axe nor the console has anything to report',
  async () => {
    const busy = await startBusyWorld();
    world = busy.world;
    const find = async (page: Page) => [...(await layoutOf(page)), ...(await axeOf(page))];
    const [overview, run] = ['/', `/runs/${LONG_NAME}.20260730T020000Z`];
    expect(busy.paths).toEqual(expect.arrayContaining([overview, run]));
    for (const [path, look] of [
      [run, { width: 390, colorScheme: 'dark' }],
      [overview, { width: 1440, colorScheme: 'light' }],
    ] as const)
      expect(await onPages(browser, world.dashboard.url, [path], look, find)).toEqual([]);
  },
);

test.skipIf(withoutBrowser)('on a phone the pages are in a menu', async () => {
  world = await startWorld();
  const page = await open('/runs', { viewport: { width: 390, height: 800 } });

  await page.getByRole('button', { name: 'Menu', exact: true }).click();
  await page.getByRole('link', { name: 'Overview' }).click();

  await page.getByRole('heading', { name: 'Last 24 hours' }).waitFor();
});

test.skipIf(withoutBrowser)(
  'a page can be used with the keyboard alone, and every field has a label',
  async () => {
    world = await startWorld({ policies: () => [aPolicy('nightly-sync')] });
    const page = await open('/policies');

    await page.keyboard.press('Tab');
    expect(await page.locator(':focus').textContent()).toContain('Skip to the content');
    await page.getByRole('link', { name: 'Pause nightly-sync' }).focus();
    await page.keyboard.press('Enter');
    await page.locator('input[name=reason]:focus').waitFor();
    await page.keyboard.type('An incident');
    await page.keyboard.press('Enter');

    // Back on the list, where it was.
    await page.getByRole('link', { name: 'Resume nightly-sync' }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/policies');
    await page.getByRole('status').getByText('nightly-sync is paused.').waitFor();
    const { pause } = await world.records.policies.state('nightly-sync');
    expect(pause).toMatchObject({ reason: 'An incident' });
  },
);

test.skipIf(withoutBrowser)(
  'j, k and Enter move in a list, / focuses the search, ? shows the keys',
  async () => {
    world = await startWorld({ policies: () => ['a', 'b', 'c'].map((name) => aPolicy(name)) });
    const page = await open('/policies');
    const focused = page.locator(':focus');

    for (const key of ['j', 'j', 'j', 'k']) await page.keyboard.press(key);
    expect(await focused.textContent()).toBe('b');
    await page.keyboard.press('/');
    expect(await focused.getAttribute('name')).toBe('q');
    await page.keyboard.type('j');
    expect(await focused.inputValue()).toBe('j');
    await page.keyboard.press('Escape');
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/policies/a');
  },
);

test.skipIf(withoutBrowser)(
  'a filter that is chosen acts at once, and one that is changed with the keys waits for Enter',
  async () => {
    world = await startWorld();
    const page = await open('/runs');
    const status = page.locator('#filter-status');
    await status.press('p');
    await page.locator('#filter-policy').fill('nightly-sync');
    expect(page.url()).toMatch(/\/runs$/);
    await page.keyboard.press('Enter');
    await page.waitForURL('**/runs?status=p*&policy=nightly-sync*');

    await page.locator('#filter-trigger').dispatchEvent('pointerdown');
    await page.locator('#filter-trigger').selectOption('manual');

    await page.waitForURL('**trigger=manual*');
    await page.getByTitle('Trigger: manual').waitFor();
  },
);

test.skipIf(withoutBrowser)('the chosen theme is that of every page from then on', async () => {
  world = await startWorld();
  const page = await open('/', { colorScheme: 'light' });
  const colour = () => page.evaluate<string>('getComputedStyle(document.body).backgroundColor');
  const light = await colour();

  await page.getByRole('button', { name: /^Signed in as/ }).click();
  await page.getByText('dark', { exact: true }).click();
  const dark = await colour();
  await page.goto(`${world.dashboard.url}/runs`);

  expect(dark).not.toBe(light);
  expect(await colour()).toBe(dark);
});
