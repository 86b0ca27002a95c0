import { expect, test } from 'vitest';
import {
  dueAt,
  jitterOf,
  MAX_SCHEDULED_TIMES,
  nextScheduledTimes,
  previousScheduledTime,
  scheduledTimesBetween,
} from '../../src/schedule/cron-times.ts';
import { nextFirings } from '../../src/schedule/next-firings.ts';
import { blackoutOn, endOfBlackout, formatBlackout } from '../../src/schedule/skip-cause.ts';
import { weekdays } from '../../src/yaml/days.ts';

const usual = { cron: ['0 2 * * *'], jitterMs: 0, overlap: 'skip' as const, catchupMs: 0 };

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

const at = Date.parse;
const iso = (moment: number) => new Date(moment).toISOString().replace(':00.000Z', 'Z');
const schedule = (cron: string | string[], timezone = 'UTC') => ({ cron: [cron].flat(), timezone });
const between = (cron: string | string[], timezone: string, after: string, until: string) =>
  scheduledTimesBetween(schedule(cron, timezone), at(after), at(until)).map(iso);

test('the scheduled times between two times exclude the first time and include the last', () => {
  expect(between('0 * * * *', 'UTC', '2026-11-21T12:00:00Z', '2026-11-21T14:00:00Z')).toEqual([
    '2026-11-21T13:00Z',
    '2026-11-21T14:00Z',
  ]);
  expect(between('0 * * * *', 'UTC', '2026-11-21T12:59:59.999Z', '2026-11-21T13:00:00.001Z')).toEqual([
    '2026-11-21T13:00Z',
  ]);
  expect(between('0 * * * *', 'UTC', '2026-11-21T13:00:00.001Z', '2026-11-21T13:59:59.999Z')).toEqual([]);
});

test('a scheduled time that matches two expressions is one scheduled time', () => {
  const both = ['0 2,14 * * *', '0 14,15 * * *'];
  expect(between(both, 'UTC', '2026-11-21T00:00:00Z', '2026-11-22T00:00:00Z')).toEqual([
    '2026-11-21T02:00Z',
    '2026-11-21T14:00Z',
    '2026-11-21T15:00Z',
  ]);
  expect(nextScheduledTimes(schedule(both), at('2026-11-21T13:00:00Z'), 3).map(iso)).toEqual([
    '2026-11-21T14:00Z',
    '2026-11-21T15:00Z',
    '2026-11-22T02:00Z',
  ]);
  expect(iso(previousScheduledTime(schedule(both), at('2026-11-21T15:00:00Z')) ?? 0)).toBe(
    '2026-11-21T14:00Z',
  );
});

test('the newest scheduled times of a very long period are returned', () => {
  const until = at('2026-11-21T12:00:00Z');
  const moments = scheduledTimesBetween(schedule(['* * * * *', '*/2 * * * *']), 0, until);

  expect(moments).toHaveLength(MAX_SCHEDULED_TIMES);
  expect(moments.at(-1)).toBe(until);
  expect(moments[0]).toBe(until - (MAX_SCHEDULED_TIMES - 1) * MINUTE);
});

test('a schedule for a day that never comes has no scheduled times', () => {
  const never = schedule('0 0 31 2 *');
  expect(nextScheduledTimes(never, at('2026-01-01T00:00:00Z'), 5)).toEqual([]);
  expect(previousScheduledTime(never, at('2026-01-01T00:00:00Z'))).toBeUndefined();
  expect(scheduledTimesBetween(never, 0, at('2026-01-01T00:00:00Z'))).toEqual([]);
});

// Other rare days: `zones.test.ts`.
test('the 29th of February is found years ahead', () => {
  expect(nextScheduledTimes(schedule('0 0 29 2 *'), at('2026-01-01T00:00:00Z'), 2).map(iso)).toEqual([
    '2028-02-29T00:00Z',
    '2032-02-29T00:00Z',
  ]);
});

/** A time zone, the days around its change of clocks, an expression, and the times at which it fires. */
const changes: [string, string, string, string, string[]][] = [
  // The hour from 02:00 to 03:00 is skipped on 29 March.
  [
    'Europe/Berlin',
    '30 2 * * *',
    '2026-03-28T12:00Z',
    '2026-03-30T12:00Z',
    ['2026-03-29T01:00Z', '2026-03-30T00:30Z'],
  ],
  ['Europe/Berlin', '0 2,3 * * *', '2026-03-28T12:00Z', '2026-03-29T12:00Z', ['2026-03-29T01:00Z']],
  // Clocks change by half an hour: 02:00 to 02:30 is skipped on 4 October.
  ['Australia/Lord_Howe', '15 2 * * *', '2026-10-03T00:00Z', '2026-10-04T00:00Z', ['2026-10-03T15:30Z']],
  // The day begins at 01:00 on 6 September.
  ['America/Santiago', '0 0 * * *', '2026-09-05T12:00Z', '2026-09-06T12:00Z', ['2026-09-06T04:00Z']],
  // The hour from 02:00 to 03:00 occurs twice on 25 October.
  [
    'Europe/Berlin',
    '30 2 * * *',
    '2026-10-24T12:00Z',
    '2026-10-26T12:00Z',
    ['2026-10-25T00:30Z', '2026-10-26T01:30Z'],
  ],
];

test.each(changes)(
  'in %s, %s fires once for an hour that is skipped or repeated (%s to %s)',
  (timezone, cron, after, until, moments) => {
    expect(between(cron, timezone, after, until)).toEqual(moments);
  },
);

// Around the changes of every zone's clocks: `zones.test.ts`.

test('jitter is the same for the same scheduled time, and spread over its whole length', () => {
  const moments = Array.from({ length: 1_000 }, (_, day) => at('2026-01-01T02:00:00Z') + day * DAY);
  const jitters = moments.map((moment) => jitterOf('nightly-sync', moment, 10 * MINUTE));

  expect(jitters).toEqual(moments.map((moment) => jitterOf('nightly-sync', moment, 10 * MINUTE)));
  expect(jitters.every((jitter) => Number.isInteger(jitter) && jitter >= 0 && jitter < 10 * MINUTE)).toBe(
    true,
  );
  const inEachMinute = Array.from(
    { length: 10 },
    (_, minute) => jitters.filter((jitter) => Math.floor(jitter / MINUTE) === minute).length,
  );
  expect(Math.min(...inEachMinute)).toBeGreaterThan(60);
  expect(Math.max(...inEachMinute)).toBeLessThan(140);
  expect(jitterOf('nightly-sync', moments[0] ?? 0, 0)).toBe(0);
});

test('two policies with the same scheduled time have different jitters', () => {
  const moment = at('2026-01-01T02:00:00Z');
  expect(jitterOf('one', moment, DAY)).not.toBe(jitterOf('two', moment, DAY));
});

test('jitter longer than the time between two scheduled times never changes their order', () => {
  const often = { ...schedule('*/5 * * * *'), jitterMs: 60 * MINUTE };
  const moments = nextScheduledTimes(often, at('2026-01-01T00:00:00Z'), 50);
  const dues = moments.map((moment) => dueAt('sweep', often, moment));

  dues.forEach((due, index) => {
    expect(due).toBeGreaterThanOrEqual(moments[index] ?? Number.NaN);
    expect(due).toBeLessThan((moments[index] ?? Number.NaN) + 5 * MINUTE);
  });
});

test("a blackout lasts from the midnight of its first day to the midnight after its last, in the schedule's time zone", () => {
  const holidays = { blackout: [{ from: '2026-12-20', to: '2027-01-03' }], timezone: 'Europe/Berlin' };
  const outside = ['2026-12-19T22:59:59Z', '2027-01-03T23:00:00Z'];
  const inside = ['2026-12-19T23:00:00Z', '2026-12-31T12:00:00Z', '2027-01-03T22:59:59Z'];

  expect(outside.map((time) => blackoutOn(holidays, at(time)))).toEqual([undefined, undefined]);
  expect(inside.map((time) => blackoutOn(holidays, at(time)))).toEqual(
    inside.map(() => holidays.blackout[0]),
  );
  expect(blackoutOn({ blackout: [], timezone: 'UTC' }, at('2026-12-24T00:00:00Z'))).toBeUndefined();
});

test('a blackout of weekdays and ranges applies on each of their days, and ends with the first other day', () => {
  const weekend = [{ weekday: 'saturday' as const }, { weekday: 'sunday' as const }];
  const holidays = [{ from: '2026-12-28', to: '2026-12-28', calendar: 'holidays' }];
  const closed = { blackout: [...weekend, ...holidays], timezone: 'America/New_York' };

  // A Saturday in that time zone.
  expect(blackoutOn(closed, at('2026-12-26T04:59Z'))).toBeUndefined();
  expect(blackoutOn(closed, at('2026-12-26T05:00Z'))).toEqual({ weekday: 'saturday' });
  expect(blackoutOn(closed, at('2026-12-29T04:59Z'))).toEqual(holidays[0]);
  expect(iso(endOfBlackout(closed, at('2026-12-26T12:00Z')) ?? 0)).toBe('2026-12-29T05:00Z');
  expect(closed.blackout.map(formatBlackout)).toEqual([
    'every saturday',
    'every sunday',
    'calendar holidays, 2026-12-28',
  ]);
});

test('a permanent blackout has no end', () => {
  const always = { blackout: weekdays.map((weekday) => ({ weekday })), timezone: 'UTC' };
  expect(endOfBlackout(always, at('2026-12-26T12:00Z'))).toBeUndefined();
  expect(nextFirings({ name: 'never', schedule: { ...usual, ...always } }, 0, 3)).toEqual([]);
});
