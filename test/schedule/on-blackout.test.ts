/** `schedule.on_blackout`: times on days of a blackout move to a workday. */
import { describe, expect, test } from 'vitest';
import { firstAt, isoDay } from '../../src/dates.ts';
import type { Blackout, Schedule } from '../../src/policy/policy.ts';
import {
  type CronSchedule,
  movedTimesBetween,
  nextScheduledTimes,
  previousScheduledTime,
  scheduledTimesBetween,
  timesMovedHere,
} from '../../src/schedule/cron-times.ts';
import { cursorFor, timesKey, whatIsDue } from '../../src/schedule/due.ts';
import { nextFirings } from '../../src/schedule/next-firings.ts';
import { upcomingFirings } from '../../src/schedule/predicted-runs.ts';
import { blackoutOnDay, dayNumber } from '../../src/schedule/skip-cause.ts';
import { explain } from '../../src/schedule/why.ts';
import { aPolicy, aSchedule } from '../support/builders.ts';
import { sampleOf } from '../support/sample.ts';

const DAY = 86_400_000;
const at = Date.parse;
const iso = (time: number) => new Date(time).toISOString().replace(':00.000Z', 'Z');

/** Christmas 2026 is from a Thursday to a Saturday. */
const christmas: Blackout = { from: '2026-12-24', to: '2026-12-26', calendar: 'holidays' };
const schedule = (changes: Partial<Schedule> = {}): Schedule =>
  aSchedule({
    cron: ['0 2 * * *'],
    timezone: 'Europe/Berlin',
    blackout: [christmas],
    onBlackout: 'next_workday',
    ...changes,
  });
const times = (one: CronSchedule, from: string, until: string) =>
  scheduledTimesBetween(one, at(from), at(until)).map(iso);

test('a time on a day of the blackout moves to the next day that is neither blacked out nor on a weekend', () => {
  const monthly = schedule({ cron: ['30 6 25 * *'] });
  expect(times(monthly, '2026-12-01T00:00Z', '2027-01-31T00:00Z')).toEqual([
    '2026-12-28T05:30Z', // Friday to Monday
    '2027-01-25T05:30Z',
  ]);
});

test('or to the previous such day', () => {
  const monthly = schedule({ cron: ['30 6 25 * *'], onBlackout: 'previous_workday' });
  expect(times(monthly, '2026-12-01T00:00Z', '2027-01-31T00:00Z')).toEqual([
    '2026-12-23T05:30Z',
    '2027-01-25T05:30Z',
  ]);
});

test('a moved time that falls on a regular one, or on another moved one, makes one run', () => {
  for (const onBlackout of ['next_workday', 'previous_workday'] as const)
    expect(times(schedule({ onBlackout }), '2026-12-22T12:00Z', '2026-12-29T12:00Z')).toEqual([
      '2026-12-23T01:00Z',
      '2026-12-27T01:00Z', // a Sunday that is not blacked out keeps its time
      '2026-12-28T01:00Z',
      '2026-12-29T01:00Z',
    ]);
});

test('the time of day stays the same when clocks change in between', () => {
  const blackout: Blackout[] = [{ from: '2026-03-27', to: '2026-03-29' }];
  expect(
    times(schedule({ cron: ['0 2 27 3 *'], blackout }), '2026-03-20T00:00Z', '2026-04-05T00:00Z'),
  ).toEqual(['2026-03-30T00:00Z']);
  // On the last Sunday of March, 02:30 does not exist in Berlin; but it is no workday anyway.
  const twice = schedule({ cron: ['30 2 26 10 *'], blackout: [{ from: '2026-10-26', to: '2026-10-26' }] });
  expect(times(twice, '2026-10-20T00:00Z', '2026-10-30T00:00Z')).toEqual(['2026-10-27T01:30Z']);
});

test('without any workday, the times stay where they are and are skipped', () => {
  const weekdays = (['monday', 'tuesday', 'wednesday', 'thursday', 'friday'] as const).map((weekday) => ({
    weekday,
  }));
  const never = schedule({ blackout: [...weekdays] });
  const { decisions } = whatIsDue('p', never, {
    cursor: at('2026-12-01T00:00Z'),
    now: at('2026-12-01T01:00:05Z'),
  });
  expect(decisions).toMatchObject([{ is: 'skip', why: 'blackout', scheduledFor: at('2026-12-01T01:00Z') }]);
});

/** Every time of a day, moved one by one: slow, and evident. */
function evident(one: Schedule, clock: readonly number[], from: number, until: number): number[] {
  const open = (day: number) => !blackoutOnDay(one.blackout, day) && ![0, 6].includes((day + 4) % 7);
  const step = one.onBlackout === 'next_workday' ? 1 : -1;
  const found = new Set<number>();
  const [first, last] = [dayNumber(one.timezone, from) - 60, dayNumber(one.timezone, until) + 60];
  for (let day = first; day <= last; day += 1) {
    let target = day;
    if (blackoutOnDay(one.blackout, day)) while (!open(target)) target += step;
    for (const minutes of clock) found.add(firstAt(one.timezone, target * DAY + minutes * 60_000));
  }
  return [...found].filter((time) => time > from && time <= until).sort((a, b) => a - b);
}

/** The first `count` times, each read from the one before. */
function stepped(from: number, step: (time: number) => number | undefined, count: number): string[] {
  const found: number[] = [];
  for (let time = step(from); time !== undefined && found.length < count; time = step(time)) found.push(time);
  return found.map(iso);
}

describe('every reading of a schedule gives the same times', () => {
  const random = (seed: number) => {
    let state = seed;
    return (below: number) => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
      return Math.floor((state / 2 ** 32) * below);
    };
  };
  test.each(Array.from({ length: sampleOf(5, 60) }, (_, seed) => seed + 1))(
    'for random blackouts, %i',
    (seed) => {
      const pick = random(seed * 7_919);
      const zones = ['Europe/Berlin', 'America/New_York', 'UTC', 'Pacific/Auckland', 'Asia/Kolkata'] as const;
      const timezone = zones[pick(zones.length)] ?? 'UTC';
      const from = at('2026-03-01T00:00Z') + pick(365) * DAY + pick(24) * 3_600_000;
      const until = from + 30 * DAY;
      const ranges = Array.from({ length: 1 + pick(4) }, (): Blackout => {
        const first = from + (pick(50) - 10) * DAY;
        return { from: isoDay(first), to: isoDay(first + pick(9) * DAY) };
      });
      const blackout: Blackout[] = [
        ...ranges,
        ...(pick(3) === 0 ? [{ weekday: 'monday' as const }] : []),
        ...(pick(2) === 0 ? [{ weekday: 'saturday' as const }, { weekday: 'sunday' as const }] : []),
      ];
      // Outside the hours that clocks skip or repeat; those are tested by themselves.
      const hours = [6 + pick(6), 14 + pick(8)];
      const one = schedule({
        cron: hours.map((hour) => `15 ${hour} * * *`),
        timezone,
        blackout,
        onBlackout: pick(2) === 0 ? 'next_workday' : 'previous_workday',
      });
      const expected = evident(
        one,
        hours.map((hour) => hour * 60 + 15),
        from,
        until,
      );

      expect(scheduledTimesBetween(one, from, until).map(iso)).toEqual(expected.map(iso));
      expect(nextScheduledTimes(one, from, expected.length).map(iso)).toEqual(expected.map(iso));
      expect(stepped(from, (time) => nextScheduledTimes(one, time, 1)[0], expected.length)).toEqual(
        expected.map(iso),
      );
      expect(stepped(until + 1, (time) => previousScheduledTime(one, time), expected.length)).toEqual(
        expected.map(iso).reverse(),
      );
      for (const { from: origin, to } of movedTimesBetween(one, from, until)) {
        expect(blackoutOnDay(blackout, dayNumber(timezone, origin))).toBeDefined();
        expect(timesMovedHere(one, to)).toContain(origin);
      }
    },
  );
});

test('the cursor is a scheduled time: a moved time fires once, and is caught up like any other', () => {
  const one = schedule({ cron: ['0 2 25 12 *'], catchupMs: 6 * 3_600_000 });
  const cursor = at('2026-12-25T00:30Z');
  const due = (now: string) => whatIsDue('p', one, { cursor, now: at(now) });

  expect(due('2026-12-25T12:00Z')).toMatchObject({ decisions: [], nextDueAt: at('2026-12-28T01:00Z') });
  expect(due('2026-12-28T01:00:05Z').decisions).toEqual([
    { is: 'fire', trigger: 'schedule', scheduledFor: at('2026-12-28T01:00Z') },
  ]);
  expect(due('2026-12-28T05:00Z').decisions).toMatchObject([{ is: 'fire', trigger: 'catch-up' }]);
  expect(due('2026-12-29T05:00Z').decisions).toMatchObject([{ is: 'missed' }]);
  expect(
    whatIsDue('p', one, { cursor: at('2026-12-28T01:00Z'), now: at('2026-12-28T02:00Z') }).decisions,
  ).toEqual([]);
});

test('editing the blackout, or where its times move, has no past', () => {
  const before = schedule();
  const edited = schedule({ blackout: [] });
  const state = { cursor: at('2026-12-20T01:00Z'), cursorSchedule: timesKey(before) };
  const now = at('2026-12-27T12:00Z');
  expect(cursorFor(before, state, now)).toBe(state.cursor);
  expect(cursorFor(edited, state, now)).toBe(now - 15_000);
  // Without moves, the days of the blackout do not change which times there are.
  expect(timesKey(aSchedule())).toBe(timesKey(aSchedule({ blackout: [christmas] })));
});

describe('what people are shown', () => {
  const policy = aPolicy({ name: 'report', schedule: schedule({ cron: ['0 6 25 * *'] }) });

  test('the next times, with where a moved one comes from', () => {
    const now = at('2026-12-20T00:00Z');
    expect(nextFirings(policy, now, 1).map(({ at: time }) => iso(time))).toEqual(['2026-12-28T05:00Z']);
    expect(
      upcomingFirings(policy, {}, { from: now, until: now + 40 * DAY, limit: 10 }).map(
        ({ scheduledFor, movedFrom = [] }) => [iso(scheduledFor), movedFrom.map(iso)],
      ),
    ).toEqual([
      ['2026-12-28T05:00Z', ['2026-12-25T05:00Z']],
      ['2027-01-25T05:00Z', []],
    ]);
  });

  test('why: the day that it left, and the day that it moved to', async () => {
    const now = at('2026-12-20T00:00Z');
    const asked = (from: string) => ({ from: at(from), to: at(from) + DAY });
    const left = await explain(undefined, policy, [asked('2026-12-25T00:00Z')], now);
    expect(left.sentences).toEqual([
      'report Fri 2026-12-25 06:00 Europe/Berlin: is moved to Mon 2026-12-28 06:00 (blackout: calendar holidays, 2026-12-24 to 2026-12-26).',
    ]);
    expect(left.scheduled_times).toMatchObject([{ is: 'moved', moved_to: '2026-12-28T05:00:00.000Z' }]);
    const reached = await explain(undefined, policy, [asked('2026-12-28T00:00Z')], now);
    expect(reached.sentences).toEqual([
      'report Mon 2026-12-28 06:00 Europe/Berlin: will fire on the minute. It is moved from Fri 2026-12-25 06:00.',
    ]);
    expect(reached.scheduled_times).toMatchObject([
      { is: 'upcoming', moved_from: ['2026-12-25T05:00:00.000Z'] },
    ]);
  });
});
