import { expect, test } from 'vitest';
import type { Schedule } from '../../src/policy/policy.ts';
import { freezeAt } from '../../src/records/freeze-store.ts';
import { pauseAt } from '../../src/records/policy-store.ts';
import { dueAt } from '../../src/schedule/cron-times.ts';
import { cursorFor, type Decision, timesKey, whatIsDue } from '../../src/schedule/due.ts';
import { aSchedule } from '../support/builders.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

const at = (time: string) => Date.parse(`2026-11-21T${time}Z`);

/** The decisions for a schedule with its cursor at `cursor`, each in a few words. */
function decided(
  schedule: Schedule,
  { cursor, now, paused = false }: { cursor?: string; now: string; paused?: boolean },
) {
  const due = whatIsDue('sweep', schedule, {
    cursor: cursor === undefined ? undefined : at(cursor),
    now: at(now),
    ...(paused && { pause: { at: 0, by: 'anna' } }),
  });
  const words = (one: Decision) =>
    `${new Date(one.scheduledFor).toISOString().slice(11, 16)} ${one.is === 'fire' ? one.trigger : one.is === 'skip' ? one.why : one.is}`;
  return { decisions: due.decisions.map(words), cursor: due.cursor, nextDueAt: due.nextDueAt };
}

test.each([
  [{}, 'by anna'],
  [{ reason: 'the sale' }, 'by anna: the sale'],
])('a pause with %o is recorded as %s', (why, note) => {
  const pause = { at: 0, by: 'anna', ...why };
  const { decisions } = whatIsDue('sweep', aSchedule(), {
    cursor: at('12:00:00'),
    now: at('13:00:00'),
    pause,
  });
  expect(decisions).toMatchObject([{ is: 'skip', why: 'paused', note }]);
});

test('a policy seen for the first time starts at the current time', () => {
  expect(decided(aSchedule({ catchupMs: 5 * HOUR }), { now: '12:00:01' })).toEqual({
    decisions: [],
    cursor: at('12:00:01'),
    nextDueAt: at('13:00:00'),
  });
});

test('nothing is decided before the next scheduled time, and the cursor stays', () => {
  expect(decided(aSchedule(), { cursor: '12:00:00', now: '12:59:59' })).toEqual({
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
])('at %s with a catchup of %d h, the decision for 13:00 is: %s', (now, catchupHours, what) => {
  const schedule = aSchedule({ catchupMs: catchupHours * HOUR });
  expect(decided(schedule, { cursor: '12:00:00', now })).toMatchObject({
    decisions: [`13:00 ${what}`],
    cursor: at('13:00:00'),
  });
});

test.each<[string, Partial<Schedule>, Parameters<typeof decided>[1], string[]]>([
  [
    'the latest of several missed scheduled times within the catchup makes up for all',
    { catchupMs: 2 * HOUR },
    { cursor: '08:30:00', now: '12:30:00' },
    ['09:00 missed', '10:00 missed', '11:00 merged', '12:00 catch-up'],
  ],
  [
    'a run that is on time makes up for those that were missed before it',
    { catchupMs: 2 * HOUR },
    { cursor: '09:30:00', now: '12:00:05' },
    ['10:00 missed', '11:00 merged', '12:00 schedule'],
  ],
  [
    // Midnight in Tokyo is 15:00 in UTC.
    'scheduled times in a blackout are skipped, and not caught up afterwards',
    {
      catchupMs: 20 * HOUR,
      blackout: [{ from: '2026-11-21', to: '2026-11-21' }],
      timezone: 'Asia/Tokyo',
    },
    { cursor: '13:00:00', now: '15:30:00' },
    ['14:00 blackout', '15:00 catch-up'],
  ],
])('%s', (_, schedule, standing, decisions) => {
  expect(decided(aSchedule(schedule), standing).decisions).toEqual(decisions);
});

const everyMinute = { cron: ['* * * * *'] };
test.each([
  ['skip', '12:01 merged'],
  ['queue', '12:01 merged'],
  ['cancel-running', '12:01 merged'],
  ['allow', '12:01 schedule'],
  ['queue-all', '12:01 schedule'],
] as const)(
  'of two times that are due together the later is not skipped, and the earlier makes a run if both may run (overlap: %s)',
  (overlap, earlier) => {
    const standing = { cursor: '12:00:00', now: '12:02:10' };
    expect(decided(aSchedule({ ...everyMinute, overlap }), standing).decisions).toEqual([
      earlier,
      '12:02 schedule',
    ]);
  },
);

test('a downtime of hundreds of scheduled times that ends just after a pause is caught up by one run', () => {
  const often = aSchedule({ ...everyMinute, catchupMs: 24 * HOUR });
  const pause = { at: at('11:00:00'), by: 'anna', until: at('11:59:20') };
  const fired: number[] = [];
  for (let cursor = at('00:00:00'); cursor < at('11:59:00'); ) {
    const due = whatIsDue('sweep', often, { cursor, now: at('11:59:30'), pause });
    fired.push(...due.decisions.filter(({ is }) => is === 'fire').map(({ scheduledFor }) => scheduledFor));
    cursor = due.cursor;
  }
  expect(fired).toEqual([at('10:59:00')]);
});

test('a pause with an end skips what was due before its end, and nothing afterwards', () => {
  const due = whatIsDue('sweep', aSchedule({ catchupMs: 5 * HOUR }), {
    cursor: at('10:30:00'),
    now: at('13:00:00'),
    pause: { at: at('10:00:00'), by: 'anna', reason: 'sale', until: at('12:30:00') },
  });
  expect(due.decisions).toEqual([
    { is: 'skip', scheduledFor: at('11:00:00'), why: 'paused', note: 'by anna: sale' },
    { is: 'skip', scheduledFor: at('12:00:00'), why: 'paused', note: 'by anna: sale' },
    { is: 'fire', scheduledFor: at('13:00:00'), trigger: 'schedule' },
  ]);
});

test('a time exactly at the end of a pause or a freeze fires, and one exactly at its start does not', () => {
  const over = (until: string) => ({ at: at('11:00:00'), by: 'anna', until: at(until) });
  const whys = (state: object) =>
    whatIsDue('sweep', aSchedule(), { cursor: at('10:30:00'), now: at('12:00:00'), ...state }).decisions.map(
      (one) => `${new Date(one.scheduledFor).getUTCHours()} ${one.is === 'skip' ? one.why : one.is}`,
    );

  expect(whys({ pause: over('12:00:00') })).toEqual(['11 paused', '12 fire']);
  expect(whys({ pause: over('12:00:01') })).toEqual(['11 paused', '12 paused']);
  expect(whys({ pauses: [over('12:00:00')] })).toEqual(['11 paused', '12 fire']);
  expect(whys({ freezes: { pause: over('12:00:00') } })).toEqual(['11 frozen', '12 fire']);
});

test('a pause and a freeze are over exactly at their end', () => {
  const pause = { at: at('11:00:00'), by: 'anna', until: at('12:00:00') };

  expect(pauseAt({ pause }, at('12:00:00') - 1)).toEqual(pause);
  expect(pauseAt({ pause }, at('12:00:00'))).toBeUndefined();
  expect(freezeAt({ freezes: { pause } }, at('12:00:00') - 1)).toEqual(pause);
  expect(freezeAt({ freezes: { pause } }, at('12:00:00'))).toBeUndefined();
});

test('a paused policy skips every scheduled time, and its cursor advances', () => {
  expect(
    decided(aSchedule({ catchupMs: 5 * HOUR }), { cursor: '10:30:00', now: '12:00:00', paused: true }),
  ).toEqual({
    decisions: ['11:00 paused', '12:00 paused'],
    cursor: at('12:00:00'),
    nextDueAt: at('13:00:00'),
  });
});

test('a scheduled run waits for its jitter: until then the cursor does not pass its scheduled time', () => {
  const schedule = aSchedule({ jitterMs: 30 * MINUTE });
  const due = dueAt('sweep', schedule, at('13:00:00'));
  expect(due).toBeGreaterThan(at('13:00:00'));
  const standing = { cursor: at('12:00:00') };

  expect(whatIsDue('sweep', schedule, { ...standing, now: due - 1 })).toEqual({
    decisions: [],
    cursor: at('12:00:00'),
    nextDueAt: due,
  });
  expect(whatIsDue('sweep', schedule, { ...standing, now: due }).decisions).toEqual([
    { is: 'fire', scheduledFor: at('13:00:00'), trigger: 'schedule' },
  ]);
});

test('a scheduled run is late from the end of its jitter on', () => {
  const schedule = aSchedule({ jitterMs: 30 * MINUTE });
  const due = dueAt('sweep', schedule, at('13:00:00'));
  const standing = { cursor: at('12:00:00') };

  expect(whatIsDue('sweep', schedule, { ...standing, now: due + 90_000 }).decisions).toMatchObject([
    { is: 'fire' },
  ]);
  expect(whatIsDue('sweep', schedule, { ...standing, now: due + 90_001 }).decisions).toMatchObject([
    { is: 'missed' },
  ]);
});

test('a cursor of another schedule is replaced by about the current time', () => {
  const now = at('12:00:00');
  const before = { cursor: at('02:00:00'), cursorSchedule: timesKey(aSchedule({ cron: ['0 2 * * *'] })) };
  const cursorSchedule = timesKey(aSchedule());

  expect(cursorFor(aSchedule(), { ...before, cursorSchedule }, now)).toBe(at('02:00:00'));
  expect(cursorFor(aSchedule(), before, now)).toBe(at('11:59:45'));
  expect(cursorFor(aSchedule({ timezone: 'Asia/Tokyo' }), { ...before, cursorSchedule }, now)).toBe(
    at('11:59:45'),
  );
  expect(cursorFor(aSchedule(), {}, now)).toBeUndefined();
});

/** Decides repeatedly, like the scheduler, each time from the cursor that the previous decisions left. */
function decidedInAll(schedule: Schedule, standing: { cursor: number; now: number }): Decision[] {
  const all: Decision[] = [];
  for (let { cursor } = standing; ; ) {
    const due = whatIsDue('sweep', schedule, { ...standing, cursor });
    all.push(...due.decisions);
    if (due.nextDueAt !== standing.now) return all;
    cursor = due.cursor;
  }
}

test('two days of downtime of a policy that runs every minute are decided completely, and the last run makes up for all', () => {
  const often = aSchedule({ ...everyMinute, catchupMs: HOUR });
  const now = at('12:00:30');

  const decisions = decidedInAll(often, { cursor: now - 48 * HOUR, now });

  expect(new Set(decisions.map(({ scheduledFor }) => scheduledFor)).size).toBe(48 * 60);
  expect(decisions.filter(({ is }) => is === 'missed')).toHaveLength(48 * 60 - 60);
  expect(decisions.filter(({ is }) => is === 'merged')).toHaveLength(59);
  expect(decisions.filter(({ is }) => is === 'fire')).toEqual([
    { is: 'fire', scheduledFor: at('12:00:00'), trigger: 'schedule' },
  ]);
});

test('after a downtime of any length, nothing is caught up on a blackout day', () => {
  const often = aSchedule({
    ...everyMinute,
    catchupMs: 20 * HOUR,
    blackout: [{ from: '2026-11-22', to: '2026-11-22' }],
  });
  const now = at('12:00:30') + 24 * HOUR;

  const decisions = decidedInAll(often, { cursor: now - 20 * HOUR, now });

  // Today's blackout prevents a catch-up now.
  expect(decisions).toHaveLength(20 * 60);
  expect(new Set(decisions.map((one) => one.is === 'skip' && one.why))).toEqual(new Set(['blackout']));
});

test('with catchup of mode all, each missed scheduled time within the window fires in order', () => {
  const schedule = aSchedule({ catchupMs: 2 * HOUR, catchesAll: true });
  const { decisions } = whatIsDue('sweep', schedule, { cursor: at('08:30:00'), now: at('12:00:05') });
  expect(decisions).toEqual([
    { is: 'missed', scheduledFor: at('09:00:00') },
    { is: 'missed', scheduledFor: at('10:00:00') },
    { is: 'fire', scheduledFor: at('11:00:00'), trigger: 'catch-up', inTurn: true },
    { is: 'fire', scheduledFor: at('12:00:00'), trigger: 'schedule', inTurn: true },
  ]);
});

test('a time that was within the window when catching up began is not missed because the queue was long', () => {
  const schedule = aSchedule({ catchupMs: 2 * HOUR, catchesAll: true });
  const standing = { cursor: at('10:30:00'), now: at('15:00:05') };

  expect(whatIsDue('sweep', schedule, standing).decisions[0]).toEqual({
    is: 'missed',
    scheduledFor: at('11:00:00'),
  });
  expect(whatIsDue('sweep', schedule, { ...standing, owedFrom: at('11:00:00') }).decisions[0]).toMatchObject({
    is: 'fire',
    scheduledFor: at('11:00:00'),
  });
});

test('times missed before a pause are not caught up during it, and times that were due during a pause stay skipped', () => {
  const schedule = aSchedule({ catchupMs: 5 * HOUR });
  const standing = { cursor: at('10:30:00'), now: at('13:10:00') };
  const pause = { at: at('11:30:00'), by: 'anna' };
  const whys = (state: object) =>
    whatIsDue('sweep', schedule, { ...standing, ...state }).decisions.map((one) =>
      one.is === 'skip' ? one.why : one.is,
    );

  expect(whys({ pause })).toEqual(['paused', 'paused', 'paused']);
  expect(whys({ pauses: [{ ...pause, until: at('12:30:00') }] })).toEqual(['merged', 'paused', 'fire']);
});

test('a disabled policy skips every scheduled time', () => {
  const { decisions } = whatIsDue('sweep', aSchedule({ disabled: true }), {
    cursor: at('11:30:00'),
    now: at('12:00:00'),
  });
  expect(decisions).toEqual([
    { is: 'skip', scheduledFor: at('12:00:00'), why: 'disabled', note: 'schedule.enabled: false' },
  ]);
});
