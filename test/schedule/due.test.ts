import { expect, test } from 'vitest';
import type { Schedule } from '../../src/policy/policy.ts';
import { dueAt } from '../../src/schedule/calendar.ts';
import { cursorFor, type Decision, nameOfMoments, whatIsDue } from '../../src/schedule/due.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

const at = (time: string) => Date.parse(`2026-11-21T${time}Z`);
const hourly = (changes: Partial<Schedule> = {}): Schedule => ({
  cron: ['0 * * * *'],
  timezone: 'UTC',
  jitterMs: 0,
  overlap: 'skip',
  catchupMs: 0,
  blackout: [],
  ...changes,
});

/** What is decided for a schedule whose cursor stands at `cursor`, each decision in a few words. */
function decided(
  schedule: Schedule,
  { cursor, now, paused = false }: { cursor?: string; now: string; paused?: boolean },
) {
  const due = whatIsDue('sweep', schedule, {
    cursor: cursor === undefined ? undefined : at(cursor),
    now: at(now),
    ...(paused && { pausedUntil: Number.POSITIVE_INFINITY }),
  });
  const words = (one: Decision) =>
    `${new Date(one.moment).toISOString().slice(11, 16)} ${one.is === 'fire' ? one.trigger : one.why}`;
  return { decisions: due.decisions.map(words), cursor: due.cursor, nextDueAt: due.nextDueAt };
}

test('a policy seen for the first time starts from now', () => {
  expect(decided(hourly({ catchupMs: 5 * HOUR }), { now: '12:00:01' })).toEqual({
    decisions: [],
    cursor: at('12:00:01'),
    nextDueAt: at('13:00:00'),
  });
});

test('nothing is decided before the next moment, and the cursor stays', () => {
  expect(decided(hourly(), { cursor: '12:00:00', now: '12:59:59' })).toEqual({
    decisions: [],
    cursor: at('12:00:00'),
    nextDueAt: at('13:00:00'),
  });
});

test.each([
  ['13:00:00', 0, 'schedule'],
  ['13:01:30', 0, 'schedule'],
  ['13:01:31', 0, 'missed'],
  ['13:01:31', 1, 'catch-up'],
  ['13:59:59', 1, 'catch-up'],
])('at %s with a catchup of %d h, the firing of 13:00 is: %s', (now, catchupHours, what) => {
  const schedule = hourly({ catchupMs: catchupHours * HOUR });
  expect(decided(schedule, { cursor: '12:00:00', now })).toMatchObject({
    decisions: [`13:00 ${what}`],
    cursor: at('13:00:00'),
  });
});

test('of several moments missed, the latest within the catchup makes up for all', () => {
  expect(decided(hourly({ catchupMs: 2 * HOUR }), { cursor: '08:30:00', now: '12:30:00' }).decisions).toEqual(
    ['09:00 missed', '10:00 missed', '11:00 merged', '12:00 catch-up'],
  );
});

test('a firing that is on time makes up for those that were missed before it', () => {
  expect(decided(hourly({ catchupMs: 2 * HOUR }), { cursor: '09:30:00', now: '12:00:05' }).decisions).toEqual(
    ['10:00 missed', '11:00 merged', '12:00 schedule'],
  );
});

test('two firings that are both on time are both made', () => {
  const everyMinute = hourly({ cron: ['* * * * *'] });
  expect(decided(everyMinute, { cursor: '12:00:00', now: '12:02:10' }).decisions).toEqual([
    '12:01 schedule',
    '12:02 schedule',
  ]);
});

test('a blackout leaves its moments out, and what comes after it catches nothing of it up', () => {
  const schedule = hourly({
    catchupMs: 48 * HOUR,
    blackout: [{ from: '2026-11-21', to: '2026-11-21' }],
    timezone: 'Asia/Tokyo',
  });
  // Midnight in Tokyo is 15:00 in UTC.
  expect(decided(schedule, { cursor: '13:00:00', now: '15:30:00' }).decisions).toEqual([
    '14:00 blackout',
    '15:00 catch-up',
  ]);
});

test('a pause with an end leaves out what was due before it, and nothing after it', () => {
  const due = whatIsDue('sweep', hourly({ catchupMs: 5 * HOUR }), {
    cursor: at('10:30:00'),
    now: at('13:00:00'),
    pausedUntil: at('12:30:00'),
  });
  expect(due.decisions).toEqual([
    { is: 'skip', moment: at('11:00:00'), why: 'paused' },
    { is: 'skip', moment: at('12:00:00'), why: 'paused' },
    { is: 'fire', moment: at('13:00:00'), trigger: 'schedule' },
  ]);
});

test('a paused policy leaves every moment out and its cursor goes on', () => {
  expect(
    decided(hourly({ catchupMs: 5 * HOUR }), { cursor: '10:30:00', now: '12:00:00', paused: true }),
  ).toEqual({
    decisions: ['11:00 paused', '12:00 paused'],
    cursor: at('12:00:00'),
    nextDueAt: at('13:00:00'),
  });
});

test('a firing waits for its jitter: until then the cursor does not pass its moment', () => {
  const schedule = hourly({ jitterMs: 30 * MINUTE });
  const due = dueAt('sweep', schedule, at('13:00:00'));
  expect(due).toBeGreaterThan(at('13:00:00'));
  const standing = { cursor: at('12:00:00') };

  expect(whatIsDue('sweep', schedule, { ...standing, now: due - 1 })).toEqual({
    decisions: [],
    cursor: at('12:00:00'),
    nextDueAt: due,
  });
  expect(whatIsDue('sweep', schedule, { ...standing, now: due }).decisions).toEqual([
    { is: 'fire', moment: at('13:00:00'), trigger: 'schedule' },
  ]);
});

test('a firing is late from the end of its jitter on', () => {
  const schedule = hourly({ jitterMs: 30 * MINUTE });
  const due = dueAt('sweep', schedule, at('13:00:00'));
  const standing = { cursor: at('12:00:00') };

  expect(whatIsDue('sweep', schedule, { ...standing, now: due + 90_000 }).decisions).toMatchObject([
    { is: 'fire' },
  ]);
  expect(whatIsDue('sweep', schedule, { ...standing, now: due + 90_001 }).decisions).toMatchObject([
    { is: 'skip', why: 'missed' },
  ]);
});

test('a cursor of another schedule counts only from about now on', () => {
  const now = at('12:00:00');
  const before = { cursor: at('02:00:00'), moments: nameOfMoments(hourly({ cron: ['0 2 * * *'] })) };
  const moments = nameOfMoments(hourly());

  expect(cursorFor(hourly(), { ...before, moments }, now)).toBe(at('02:00:00'));
  expect(cursorFor(hourly(), before, now)).toBe(at('11:59:50'));
  expect(cursorFor(hourly({ timezone: 'Asia/Tokyo' }), { ...before, moments }, now)).toBe(at('11:59:50'));
  expect(cursorFor(hourly(), {}, now)).toBeUndefined();
});

test('a month of standstill of a policy of every minute is decided at once', () => {
  const everyMinute = hourly({ cron: ['* * * * *'], catchupMs: HOUR });
  const now = at('12:00:30');

  const { decisions, cursor } = whatIsDue('sweep', everyMinute, {
    cursor: now - 30 * 24 * HOUR,
    now,
  });

  expect(decisions.filter(({ is }) => is === 'fire')).toEqual([
    { is: 'fire', moment: at('11:59:00'), trigger: 'schedule' },
    { is: 'fire', moment: at('12:00:00'), trigger: 'schedule' },
  ]);
  expect(cursor).toBe(at('12:00:00'));
});
