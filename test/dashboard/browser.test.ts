import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { aTarget } from '../support/builders.ts';
import { complaintsOf, launch, openPage, withoutBrowser } from './chromium.ts';
import { aPolicy, aRun, ended, remember, showDaemon, startWorld, type World } from './world.ts';

let browser: Browser;
let world: World;
beforeAll(async () => {
  if (!withoutBrowser) browser = await launch();
});
afterAll(() => browser?.close());
afterEach(() => world?.stop());

const schedule = {
  cron: ['0 2 * * *'],
  timezone: 'Europe/Berlin',
  jitterMs: 0,
  overlap: 'skip',
  catchupMs: 0,
  blackout: [],
} as const;

const open = (path: string, options: BrowserContextOptions = {}): Promise<Page> =>
  openPage(browser, world.dashboard.url, path, options);

test.skipIf(withoutBrowser)('a person signs in and watches a run to its end', async () => {
  world = await startWorld();
  await remember(world.records, aRun(), [ended('a', 'succeeded')]);
  const page = await open(`/runs/${aRun().id}`);
  await page.getByRole('heading', { name: 'nightly-sync running' }).waitFor();

  await world.records.runs.move(aRun(), 'stopped', { at: Date.now(), detail: 'A limit tripped.' });

  await page.getByText('A limit tripped.').waitFor();
});

test.skipIf(withoutBrowser)('a new run appears on an open page, and the keyboard focus is kept', async () => {
  world = await startWorld({ policies: () => [aPolicy('nightly-sync')] });
  await remember(world.records, aRun({ id: 'older', policy: 'older', createdAt: Date.now() }), []);
  const page = await open('/');
  await page.getByRole('heading', { name: 'older running' }).waitFor();
  await page.getByRole('link', { name: 'Pause nightly-sync' }).focus();

  await remember(world.records, aRun({ id: 'newer', policy: 'newer', createdAt: Date.now() }), []);

  await page.getByRole('heading', { name: 'newer running' }).waitFor();
  const focused = page.locator(':focus');
  expect(await focused.textContent()).toBe('Pause nightly-sync');
});

test.skipIf(withoutBrowser)('a banner that appears is visible, and moves nothing on the page', async () => {
  world = await startWorld();
  await showDaemon(world.records, ['worker', 'scheduler'], Date.now());
  const targets = Array.from({ length: 60 }, (_, at) => aTarget(`s${at}`));
  await remember(world.records, aRun(), targets);
  const page = await open(`/runs/${aRun().id}`);
  const heading = page.getByRole('heading', { name: 'nightly-sync running' });
  const before = await heading.boundingBox();

  await world.records.accounts.block('default', { since: 1, why: 'HTTP 401' });
  await world.records.runs.move(aRun(), 'blocked', { at: Date.now() });

  const banner = page.getByText('The account default is blocked');
  await banner.waitFor();
  const after = await page.getByRole('heading', { name: 'nightly-sync blocked' }).boundingBox();
  expect(after?.y).toBe(before?.y);
  const { y = -1, height = 0 } = (await banner.boundingBox()) ?? {};
  expect(y + height).toBeLessThanOrEqual(page.viewportSize()?.height ?? 0);
});

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

    const next = page.locator('dd', { hasText: 'Europe/Berlin' }).last();
    // Two at night in Berlin is in the morning in Tokyo, which has no summer time.
    await expect.poll(() => next.locator('time').textContent()).toMatch(/, (09|10):00$/);
    expect(await next.locator('.ago').textContent()).toMatch(/^in \d+ (s|min|h|d)$/);
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

test.skipIf(withoutBrowser)(
  'no page has console errors, requests to other hosts, or content wider than a phone',
  async () => {
    world = await startWorld({ policies: () => [aPolicy('nightly-sync')] });
    await showDaemon(world.records, ['worker', 'scheduler']);
    world.health.brokenFiles = [
      {
        file: 'config/policies/a-file-with-a-very-long-name-indeed.yaml',
        errors: [{ place: 'a.yaml:3:5', message: 'There is no key "croon".', frame: '> 3 | croon: x' }],
        since: Date.now(),
        active: ['nightly-sync'],
        kept: [],
      },
    ];
    await remember(world.records, aRun(), [ended('a', 'failed'), ended('b', 'succeeded')]);
    await world.records.runs.move(aRun(), 'partial', { at: Date.now() });
    const page = await open('/', { viewport: { width: 390, height: 800 } });
    const complaints = complaintsOf(page, world.dashboard.url);

    const paths = [
      '/',
      '/runs',
      `/runs/${aRun().id}`,
      `/runs/${aRun().id}/retry`,
      '/system',
      '/policies/nightly-sync',
    ];
    const more = [
      '/policies/nightly-sync/run',
      '/policies/nightly-sync/pause',
      `/targets/default/b?run=${aRun().id}`,
    ];
    for (const path of [...paths, ...more]) {
      await page.goto(`${world.dashboard.url}${path}`);
      await page.waitForLoadState('load');
      const overhang = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
      expect({ path, overhang }).toEqual({ path, overhang: 0 });
    }
    await page.goto(`${world.dashboard.url}/queues`);
    await page
      .getByRole('link', { name: /actions/ })
      .first()
      .waitFor();
    expect(complaints).toEqual([]);

    await page.getByRole('link', { name: 'Back to Caretaker' }).click();
    await page.getByRole('heading', { name: 'The last 24 hours' }).waitFor();
  },
);

test.skipIf(withoutBrowser)(
  'a page can be used with the keyboard alone, and every field has a label',
  async () => {
    world = await startWorld({ policies: () => [aPolicy('nightly-sync')] });
    const page = await open('/');

    await page.keyboard.press('Tab');
    expect(await page.locator(':focus').textContent()).toContain('Skip to the content');
    await page.getByRole('link', { name: 'Pause nightly-sync' }).focus();
    await page.keyboard.press('Enter');
    await page.locator('input[name=reason]:focus').waitFor();
    await page.keyboard.type('An incident');
    await page.keyboard.press('Enter');

    await page.getByText('paused by the dashboard: An incident').waitFor();
    const { pause } = await world.records.policies.state('nightly-sync');
    expect(pause).toMatchObject({ reason: 'An incident' });
  },
);
