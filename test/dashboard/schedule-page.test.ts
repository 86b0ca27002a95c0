/** The page of the schedule: what becomes of scheduled times and what is predicted, by a clock that is held. */
import { afterEach, expect, test } from 'vitest';
import type { Policy } from '../../src/policy/policy.ts';
import { aSchedule } from '../support/builders.ts';
import { type HeldClock, heldClock } from '../support/held-clock.ts';
import { anAccount, aPolicy, aRun, ended, remember, startWorld, usersOf, type World } from './world.ts';

let world: World;
afterEach(() => world.stop());

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** Tuesday, 24 November 2026, noon. */
const NOON = Date.UTC(2026, 10, 24, 12);

async function startWith(policies: Policy[]): Promise<HeldClock> {
  const clock = heldClock(NOON);
  world = await startWorld({ clock, policies: () => policies });
  return clock;
}

async function page(query = '', name?: string): Promise<{ html: string; text: string }> {
  const { status, html, main } = await world.look(`/schedule${query}`, name);
  expect(status).toBe(200);
  return { html: html.replace(/\u00a0/g, ' '), text: main };
}

/** A run of yesterday that took so long and so many requests. */
async function ranBefore(policy: Policy, ms: number, requests: number): Promise<void> {
  const at = NOON - 30 * HOUR;
  const { name, hash } = policy;
  const run = aRun({ id: `${name}.before`, policy: name, policyHash: hash, createdAt: at, requests });
  await remember(world.records, run, [ended('site', 'succeeded')]);
  await world.records.runs.move(run, 'succeeded', { at: at + ms });
}

const at = (hour: number, minute = 0) => ({ schedule: aSchedule({ cron: [`${minute} ${hour} * * *`] }) });

test('a run is shown with the duration and the requests of the last runs; without one they are not known', async () => {
  const sync = aPolicy('nightly-sync', at(20));
  await startWith([sync, aPolicy('never-ran', at(21))]);
  await ranBefore(sync, 12 * MINUTE, 300);

  const { html, text } = await page();

  expect(html).toContain('nightly-sync at 20:00: planned, 12 min, 300 requests');
  expect(html).toContain('never-ran at 21:00: planned, duration not known');
  expect(text).toContain('How long runs of never-ran take is not known');
  expect(html.match(/class="point /g)).toHaveLength(1);
  expect(text).toContain('No collisions are predicted in this week.');
});

test('a time at the very start or end of a week is in that week, and in no other', async () => {
  await startWith([
    aPolicy('first', { schedule: aSchedule({ cron: ['0 0 * * 1'], timezone: 'Europe/Berlin' }) }),
    aPolicy('last', { schedule: aSchedule({ cron: ['59 23 * * 0'], timezone: 'Europe/Berlin' }) }),
  ]);

  const week = async (day: string) => (await page(`?day=${day}&zone=Europe/Berlin`)).html;

  expect(await week('2026-11-30')).toContain('first at 00:00: planned');
  expect(await week('2026-11-29')).not.toContain('first at 00:00');
  expect(await week('2026-12-06')).toContain('last at 23:59: planned');
  expect(await week('2026-12-07')).not.toContain('last at 23:59');
});

test('a policy of every five minutes is shown to the end of the week, and one of every minute says that it is not', async () => {
  const often = (cron: string) => ({ schedule: aSchedule({ cron: [cron] }) });
  await startWith([aPolicy('often', often('*/5 * * * *')), aPolicy('very-often', often('* * * * *'))]);

  const { text } = await page('?day=2026-12-06');

  expect(text).toContain('288 planned');
  expect(text).toContain('No collisions are predicted among the times that are shown.');
  expect(text).toContain('Not all times of very-often are shown.');
});

test('policies that need more than the budget at the same time are named, with what they need', async () => {
  const [a, b, c] = [
    aPolicy('sync-a', at(20)),
    aPolicy('sync-b', at(20, 5)),
    aPolicy('elsewhere', { ...at(20), account: 'second' }),
  ];
  await startWith([a, b, c]);
  await ranBefore(a, 10 * MINUTE, 1_500);
  await ranBefore(b, 10 * MINUTE, 1_000);

  const { text } = await page();

  // 150 and 100 a minute from 20:05 on, where 200 less the reserve of 20 can be spent; every day until Sunday.
  expect(text).toContain(
    'sync-a and sync-b run at the same time on the account default, Tue 24 Nov 20:05 to 20:10, and 5 more times this week: together they need about 250 requests a minute, and 180 can be spent.',
  );
  expect(text).not.toContain('elsewhere and');
});

test('a policy of every five minutes is one band with its count', async () => {
  await startWith([aPolicy('often', { schedule: aSchedule({ cron: ['*/5 * * * *'] }) })]);

  const { html } = await page('?day=2026-11-25');

  expect(html.match(/class="band /g)).toHaveLength(1);
  expect(html).toContain('often: 288 times from 00:00 to 23:55 (288 planned)');
  expect(html).toContain('×288');
  expect(html.length).toBeLessThan(60_000);
});

test('what became of past times is shown: ran, skipped, missed, and those that nobody decided about', async () => {
  const policy = aPolicy('nightly-sync', { schedule: aSchedule({ cron: ['0 */6 * * *'] }) });
  await startWith([policy]);
  const { records } = world;
  const run = aRun({ id: 'nightly-sync.a', createdAt: NOON - 36 * HOUR, requests: 77 });
  await remember(records, run, [ended('site', 'succeeded')]);
  await records.runs.move(run, 'partial', { at: NOON - 36 * HOUR + 4 * MINUTE });
  await records.ledger.record(
    'nightly-sync',
    [
      { scheduledFor: NOON - 36 * HOUR, is: 'ran', run: run.id, at: NOON - 36 * HOUR },
      { scheduledFor: NOON - 30 * HOUR, is: 'skipped', why: 'paused', note: 'by anna', at: NOON - 30 * HOUR },
      { scheduledFor: NOON - 24 * HOUR, is: 'missed', at: NOON },
    ],
    { to: NOON - 12 * HOUR, schedule: 'UTC 0 */6 * * *' },
  );

  const monday = await page('?day=2026-11-23');
  expect(monday.html).toContain('nightly-sync at 00:00: partial, 4 min, 77 requests');
  expect(monday.html).toContain('nightly-sync at 06:00: skipped, paused by anna');
  expect(monday.html).toContain('nightly-sync at 12:00: missed');
  // No daemon has decided about 06:00 of today; 12:00 is now, 18:00 is to come.
  const today = await page();
  expect(today.html).toContain('nightly-sync at 06:00: not decided');
  expect(today.html).toContain('nightly-sync at 18:00: planned');
  expect(today.html).not.toContain('nightly-sync at 12:00: not decided');
});

test('freezes, blackouts and deadlines that will be missed are marked', async () => {
  const slow = aPolicy('slow', { ...at(20), deadline: { afterMs: HOUR } });
  const off = aPolicy('closed', {
    schedule: aSchedule({ cron: ['0 21 * * *'], blackout: [{ weekday: 'tuesday' }] }),
  });
  await startWith([slow, off]);
  await ranBefore(slow, 2 * HOUR, 10);
  const freeze = { at: NOON - HOUR, by: 'anna', reason: 'the big sale', until: NOON + HOUR };
  await world.records.freeze.begin(freeze);

  const { html, text } = await page();

  expect(html).toContain('slow at 20:00: planned, 2 h, 10 requests, deadline 21:00, predicted to be missed');
  expect(html).toContain('closed at 21:00: will be skipped, blackout every tuesday');
  expect(text).toContain(
    'Frozen by anna until 2026-11-24 13:00 UTC : everything, no run starts (the big sale).',
  );
  expect(html).toContain('data-key="freezes"');
});

test('days and times are those of the zone in the address, with the zone of the policy beside them', async () => {
  const berlin = aPolicy('late', {
    schedule: aSchedule({ cron: ['30 23 * * *'], timezone: 'Europe/Berlin' }),
  });
  await startWith([berlin]);

  const tokyo = await page('?zone=Asia/Tokyo&day=2026-11-25');

  expect(tokyo.html).toContain('late at 07:30: planned');
  expect(tokyo.text).toContain('23:30 Europe/Berlin');
  expect(tokyo.text).toContain('Times are in Asia/Tokyo');
  expect((await page('?zone=No/Where&day=yesterday')).text).toContain('Times are in UTC');
});

test('what follows another policy is expected at its usual end', async () => {
  const first = aPolicy('first', at(20));
  const after = { policy: 'first', status: ['succeeded' as const], withinMs: HOUR };
  const second = aPolicy('second', { schedule: { ...aSchedule({ cron: [] }), after } });
  const clock = await startWith([first, second]);
  expect((await page()).text).toContain('from 20:00 second after first');

  await ranBefore(first, 25 * MINUTE, 10);
  // What a policy takes is kept for a minute.
  await clock.advance(MINUTE);
  expect((await page()).text).toContain('20:25 second after first');
});

test('somebody with limits sees only the times of their policies', async () => {
  world = await startWorld({
    clock: heldClock(NOON),
    password: null,
    policies: () => [aPolicy('inside', at(20)), aPolicy('outside', { ...at(20), account: 'second' })],
    accounts: async () => [anAccount(), anAccount({ account: 'second' })],
    access: () => usersOf({ li: [{ role: 'viewer', policies: ['inside'] }] }),
  });
  const { text } = await page('', 'li');
  expect(text).toContain('inside');
  expect(text).not.toContain('outside');
});
