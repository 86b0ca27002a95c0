/**
 * What only a browser shows: live pages, focus, the keyboard and time zones. `every-page.long.test.ts` judges how
 * pages are laid out.
 */
import type { BrowserContextOptions, Page } from 'playwright-core';
import { afterEach, expect, onTestFinished, test } from 'vitest';
import { aSchedule, aTarget } from '../support/builders.ts';
import { fastClock } from '../support/caretaker.ts';
import { browserOfFile, openPage, withoutBrowser } from './chromium.ts';
import { aPolicy, aRun, PASSWORD, remember, showDaemon, startWorld, type World } from './world.ts';

const browser = browserOfFile();
let world: World;
afterEach(() => world?.stop());

const open = (path: string, options: BrowserContextOptions = {}): Promise<Page> =>
  openPage(browser(), world.dashboard.url, path, options);

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
    await hide(true);
    const opened: string[] = [];
    page.on('request', (request) => opened.push(new URL(request.url()).pathname));
    await remember(world.records, aRun({ id: 'newer', policy: 'newer', createdAt: Date.now() }), []);
    expect(await page.getByRole('heading', { name: 'newer running' }).count()).toBe(0);
    await hide(false);

    await page.getByRole('heading', { name: 'newer running' }).waitFor();
    expect(opened).toEqual(['/events']);
  },
);

test.skipIf(withoutBrowser)(
  'who signs in comes to the requested page, and its notices stay up to date',
  async () => {
    world = await startWorld();
    const context = await browser().newContext();
    onTestFinished(() => context.close());
    const page = await context.newPage();
    // No event changes this page itself.
    // Only then something happens.
    await page.route('**/events?*', async (route) => {
      await showDaemon(world.records, ['scheduler', 'worker']);
      await remember(world.records, aRun({ createdAt: Date.now() }), []);
      await route.continue();
    });
    await page.goto(`${world.dashboard.url}/audit`);
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.waitForURL('**/audit');

    await page.locator('#status').getByText('2 notices').waitFor({ state: 'attached' });
    await page.locator('#status').getByText('No notices').first().waitFor({ state: 'attached' });
  },
);

test.skipIf(withoutBrowser)(
  'an open page of a policy that is removed says so, by the clock of the server',
  async () => {
    const policies = [aPolicy('nightly-sync')];
    const clock = fastClock(50, Date.parse('2026-11-21T12:00:00Z'));
    world = await startWorld({ clock, policies: () => policies });
    const page = await open('/policies/nightly-sync', { timezoneId: 'UTC' });
    await page.getByRole('link', { name: 'Pause nightly-sync' }).waitFor();

    policies.pop();

    const bar = page.getByRole('alert');
    await bar
      .getByText(/^This is not there any more. What you see is as of .*(Nov 21|21 Nov).* 1[2-9]:\d\d\.$/)
      .waitFor();
  },
);

test.skipIf(withoutBrowser)(
  "times, also inside sentences, are shown in the browser's time zone, with their distance from now or in UTC on hover",
  async () => {
    const schedule = aSchedule({ cron: ['0 2 * * *'], timezone: 'Europe/Berlin' });
    world = await startWorld({ policies: () => [aPolicy('nightly-sync', { schedule })] });
    const until = Date.UTC(new Date().getUTCFullYear() + 1, 11, 24, 20, 30);
    await world.records.freeze.begin({ at: Date.now(), by: 'anna', until });
    const detail = 'No more runs before 2026-12-24 20:30Z.';
    await remember(world.records, aRun({ startedAt: Date.now() - 3 * 3_600_000, detail }), []);
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

    await page.goto(`${world.dashboard.url}/runs/${aRun().id}`);
    const notice = page.locator('#warnings .sentence', {
      hasText: 'Everything is frozen by anna until 25 Dec',
    });
    expect(await notice.textContent()).toMatch(/until 25 Dec \d{4}, 05:30: no run starts\./);
    expect(await notice.locator('time').first().getAttribute('title')).toMatch(/-12-24 20:30 UTC$/);
    expect(await page.locator('#summary .note').textContent()).toMatch(/before 25 Dec(?: \d{4})?, 05:30\.$/);
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
