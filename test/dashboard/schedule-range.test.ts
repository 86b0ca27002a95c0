/** What runs between two times, and whether the budget suffices: by the address, the fields and the mouse. */
import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { Policy } from '../../src/policy/policy.ts';
import { aSchedule } from '../support/builders.ts';
import { heldClock } from '../support/held-clock.ts';
import { complaintsOf, isInBrowser, launch, openPage } from './chromium.ts';
import { anAccount, aPolicy, aRun, ended, remember, startWorld, type World } from './world.ts';

let browser: Browser;
let world: World;
beforeAll(async () => {
  if (isInBrowser()) browser = await launch();
});
afterAll(() => browser?.close());
afterEach(() => world?.stop());

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** Tuesday, 24 November 2026, noon. */
const NOON = Date.UTC(2026, 10, 24, 12);
const at = (hour: number, minute = 0) => ({ schedule: aSchedule({ cron: [`${minute} ${hour} * * *`] }) });

async function startWith(policies: Policy[], accounts = [anAccount()]) {
  world = await startWorld({
    clock: heldClock(NOON),
    policies: () => policies,
    accounts: async () => accounts,
  });
}

async function ran(
  id: string,
  policy: Policy,
  began: number,
  ms: number,
  requests: number,
  more: object = {},
) {
  const { name, hash } = policy;
  const run = aRun({
    id,
    policy: name,
    policyHash: hash,
    createdAt: began,
    scheduledFor: began,
    requests,
    ...more,
  });
  await remember(world.records, run, [ended('site', 'succeeded')]);
  await world.records.runs.move(run, 'running', { at: began });
  await world.records.runs.move(run, 'succeeded', { at: began + ms });
}

/** The sentence, and the policies and states of its runs. */
async function answerTo(query: string) {
  const answer = await (await world.signedIn())(`/schedule?${query}`);
  expect(answer.status).toBe(200);
  const html = (await answer.text()).replace(/\u00a0/g, ' ');
  const [, part = ''] = /<section id="range"[^>]*>([\s\S]*?)<section id="day"/.exec(html) ?? [];
  const textOf = (text: string) =>
    text
      .replace(/<[^>]+>/g, ' ')
      .replace(/\s+/g, ' ')
      .trim();
  const rows = part.split('<tr data-key').slice(1);
  return {
    html,
    sentence: textOf(part.split('</p>')[0] ?? ''),
    runs: rows.map((row) => textOf(row.slice(row.indexOf('>') + 1))),
  };
}

test('of a time that is over it shows what really ran, also by hand, and what that spent', async () => {
  const [sync, check] = [aPolicy('sync', at(2)), aPolicy('check')];
  await startWith([sync, check]);
  await ran('sync.1', sync, NOON - 10 * HOUR, 12 * MINUTE, 300);
  await ran('check.1', check, NOON - 9 * HOUR, 2 * MINUTE, 5, { trigger: 'manual' });
  await ran('check.2', check, NOON - 7 * HOUR, 2 * MINUTE, 7, { trigger: 'manual' });

  const { sentence, runs, html } = await answerTo('from=2026-11-24+02:05&to=2026-11-24+04:00');

  expect(sentence).toBe('Tue 24 Nov 02:05 to 04:00: This time is over. 2 runs ran, with 305 requests.');
  expect(runs).toEqual([
    expect.stringMatching(/^02:00 sync .* succeeded 12 min 300/),
    expect.stringMatching(/^03:00 check manual .* succeeded 2 min 5/),
  ]);
  expect(html, 'the fields hold it').toContain('value="2026-11-24 02:05"');
  expect((await answerTo('from=2026-11-24T05:30&to=2026-11-24T06:00')).sentence).toContain('Nothing ran.');
});

test('of a time ahead it says whether the budget suffices, by the predictions of the page', async () => {
  const [sync, check] = [aPolicy('sync', at(20)), aPolicy('check', at(20, 10))];
  await startWith([sync, check, aPolicy('new', at(22))]);
  await ran('sync.1', sync, NOON - 16 * HOUR, 60 * MINUTE, 6_000);
  await ran('check.1', check, NOON - 15 * HOUR, 10 * MINUTE, 1_500);

  // 180 requests a minute can be spent. Of the run of an hour, a half is in this time.
  const half = await answerTo('from=2026-11-24T20:30&to=2026-11-24T21:30');
  expect(half.sentence).toContain(
    'The budget suffices: about 3,000 requests are predicted, and 10,800 can be spent.',
  );
  expect(half.runs).toEqual([expect.stringMatching(/^20:00 sync .* planned 1 h 6,000/)]);
  const both = await answerTo('from=2026-11-24T20:00&to=2026-11-24T22:00');
  expect(both.sentence).toContain('The budget suffices as a whole: about 7,500 requests');
  expect(both.sentence).toContain('But sync and check run at the same time on the account default');
  const short = await answerTo('from=2026-11-24T20:10&to=2026-11-24T20:20');
  expect(short.sentence).toContain(
    'The budget of default does not suffice: about 2,500 requests are predicted, and 1,800 can be spent.',
  );
  const unknown = await answerTo('from=2026-11-24T22:00&to=2026-11-24T23:00');
  expect(unknown.sentence).toContain('What new needs is not known.');
  const mixed = await answerTo('from=2026-11-23T20:00&to=2026-11-24T20:10');
  expect(mixed.sentence).toContain(
    '2 runs ran, with 7,500 requests. The budget suffices: about 1,000 requests',
  );
});

test('times are in the zone of the page, and what is no time is said', async () => {
  await startWith([aPolicy('sync', at(20))]);
  const berlin = await answerTo('from=2026-11-24T20:30&to=2026-11-24T21:30&zone=Europe/Berlin');
  expect(berlin.sentence).toContain('Tue 24 Nov 20:30 to 21:30');
  expect(berlin.runs).toEqual([expect.stringMatching(/^21:00 sync/)]);
  expect((await answerTo('from=2026-11-24T19:30Z&to=2026-11-24T20:30Z&zone=Europe/Berlin')).runs).toEqual(
    berlin.runs,
  );
  for (const query of ['from=2026-11-24T20:30', 'from=now&to=later', 'from=2026-11-24&to=2026-11-27'])
    expect((await answerTo(query)).sentence).toContain('Choose a time of at most a day');
});

test.runIf(isInBrowser())('dragging over the day asks for that time, and the address holds it', async () => {
  await startWith([aPolicy('sync', at(20))]);
  const page = await openPage(browser, world.dashboard.url, '/schedule?zone=Asia%2FTokyo&day=2026-11-25');
  const complaints = complaintsOf(page, world.dashboard.url);
  const lane = page.locator('.day-lanes svg').first();
  await lane.scrollIntoViewIfNeeded();
  const chart = await lane.boundingBox();
  if (!chart) throw new Error('There is no chart.');
  await page.mouse.move(chart.x + chart.width / 4, chart.y + 5);
  await page.mouse.down();
  await page.mouse.move(chart.x + chart.width / 3, chart.y + 8, { steps: 3 });
  expect(await page.locator('.range-mark').isVisible()).toBe(true);
  await Promise.all([page.waitForURL(/from=/), page.mouse.up()]);

  expect(new URL(page.url()).searchParams.get('from')).toBe('2026-11-24T21:00Z');
  expect(await page.locator('#range-from').inputValue()).toBe('2026-11-25 06:00');
  expect(await page.locator('#range-to').inputValue()).toBe('2026-11-25 08:00');
  expect(await page.locator('#range').innerText()).toContain('Wed 25 Nov 06:00 to 08:00');
  expect(complaints).toEqual([]);
});
