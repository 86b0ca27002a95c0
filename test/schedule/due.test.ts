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

/** What is decided for a schedule whose cursor stands at `cursor`, each decision in a few words. */
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
])('a pause with %o says %s', (why, note) => {
  const pause = { at: 0, by: 'anna', ...why };
  const { decisions } = whatIsDue('sweep', aSchedule(), {
    cursor: at('12:00:00'),
    now: at('13:00:00'),
    pause,
  });
  expect(decisions).toMatchObject([{ is: 'skip', why: 'paused', note }]);
});

test('a policy seen for the first time starts from now', () => {
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
])('at %s with a catchup of %d h, the firing of 13:00 is: %s', (now, catchupHours, what) => {
  const schedule = aSchedule({ catchupMs: catchupHours * HOUR });
  expect(decided(schedule, { cursor: '12:00:00', now })).toMatchObject({
    decisions: [`13:00 ${what}`],
    cursor: at('13:00:00'),
  });
});

test('of several scheduled times missed, the latest within the catchup makes up for all', () => {
  expect(
    decided(aSchedule({ catchupMs: 2 * HOUR }), { cursor: '08:30:00', now: '12:30:00' }).decisions,
  ).toEqual(['09:00 missed', '10:00 missed', '11:00 merged', '12:00 catch-up']);
});

test('a firing that is on time makes up for those that were missed before it', () => {
  expect(
    decided(aSchedule({ catchupMs: 2 * HOUR }), { cursor: '09:30:00', now: '12:00:05' }).decisions,
  ).toEqual(['10:00 missed', '11:00 merged', '12:00 schedule']);
});

test.each(['skip', 'queue', 'cancel-running'] as const)(
  'of two times that fall due together, the earlier does not have the later skipped (overlap: %s)',
  (overlap) => {
    const everyMinute = aSchedule({ cron: ['* * * * *'], overlap });
    expect(decided(everyMinute, { cursor: '12:00:00', now: '12:02:10' }).decisions).toEqual([
      '12:01 merged',
      '12:02 schedule',
    ]);
  },
);

test.each(['allow', 'queue-all'] as const)(
  'two times that fall due together both make their run where both may run (overlap: %s)',
  (overlap) => {
    const everyMinute = aSchedule({ cron: ['* * * * *'], overlap });
    expect(decided(everyMinute, { cursor: '12:00:00', now: '12:02:10' }).decisions).toEqual([
      '12:01 schedule',
      '12:02 schedule',
    ]);
  },
);

test('with catchup of mode all, two times that fall due together run one after the other', () => {
  const schedule = aSchedule({ cron: ['* * * * *'], catchupMs: HOUR, catchesAll: true });
  const { decisions } = whatIsDue('sweep', schedule, { cursor: at('12:00:00'), now: at('12:02:10') });
  expect(decisions).toMatchObject([
    { is: 'fire', scheduledFor: at('12:01:00'), inTurn: true },
    { is: 'fire', scheduledFor: at('12:02:00'), inTurn: true },
  ]);
});

test('a blackout leaves its scheduled times out, and what comes after it catches nothing of it up', () => {
  const schedule = aSchedule({
    catchupMs: 20 * HOUR,
    blackout: [{ from: '2026-11-21', to: '2026-11-21' }],
    timezone: 'Asia/Tokyo',
  });
  // Midnight in Tokyo is 15:00 in UTC.
  expect(decided(schedule, { cursor: '13:00:00', now: '15:30:00' }).decisions).toEqual([
    '14:00 blackout',
    '15:00 catch-up',
  ]);
});

test('a standstill of hundreds of times that ends just after a pause is caught up by one run', () => {
  const everyMinute = aSchedule({ cron: ['* * * * *'], catchupMs: 24 * HOUR });
  const pause = { at: at('11:00:00'), by: 'anna', until: at('11:59:20') };
  const fired: number[] = [];
  for (let cursor = at('00:00:00'); cursor < at('11:59:00'); ) {
    const due = whatIsDue('sweep', everyMinute, { cursor, now: at('11:59:30'), pause });
    fired.push(...due.decisions.filter(({ is }) => is === 'fire').map(({ scheduledFor }) => scheduledFor));
    cursor = due.cursor;
  }
  expect(fired).toEqual([at('10:59:00')]);
});

test('a pause with an end leaves out what was due before it, and nothing after it', () => {
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

test('a time at the very end of a pause or a freeze fires, and one at its very beginning does not', () => {
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

test('a pause and a freeze are over at the very time that they end at', () => {
  const pause = { at: at('11:00:00'), by: 'anna', until: at('12:00:00') };

  expect(pauseAt({ pause }, at('12:00:00') - 1)).toEqual(pause);
  expect(pauseAt({ pause }, at('12:00:00'))).toBeUndefined();
  expect(freezeAt({ freezes: { pause } }, at('12:00:00') - 1)).toEqual(pause);
  expect(freezeAt({ freezes: { pause } }, at('12:00:00'))).toBeUndefined();
});

test('a paused policy leaves every scheduled time out and its cursor goes on', () => {
  expect(
    decided(aSchedule({ catchupMs: 5 * HOUR }), { cursor: '10:30:00', now: '12:00:00', paused: true }),
  ).toEqual({
    decisions: ['11:00 paused', '12:00 paused'],
    cursor: at('12:00:00'),
    nextDueAt: at('13:00:00'),
  });
});

test('a firing waits for its jitter: until then the cursor does not pass its scheduled time', () => {
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

test('a firing is late from the end of its jitter on', () => {
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

test('a cursor of another schedule counts only from about now on', () => {
  const now = at('12:00:00');
  const before = { cursor: at('02:00:00'), cursorSchedule: timesKey(aSchedule({ cron: ['0 2 * * *'] })) };
  const cursorSchedule = timesKey(aSchedule());

  expect(cursorFor(aSchedule(), { ...before, cursorSchedule }, now)).toBe(at('02:00:00'));
  expect(cursorFor(aSchedule(), before, now)).toBe(at('11:59:50'));
  expect(cursorFor(aSchedule({ timezone: 'Asia/Tokyo' }), { ...before, cursorSchedule }, now)).toBe(
    at('11:59:50'),
  );
  expect(cursorFor(aSchedule(), {}, now)).toBeUndefined();
});

/** Decides as the scheduler does: again and again, from where the decisions before have left the cursor. */
function decidedInAll(schedule: Schedule, standing: { cursor: number; now: number }): Decision[] {
  const all: Decision[] = [];
  for (let { cursor } = standing; ; ) {
    const due = whatIsDue('sweep', schedule, { ...standing, cursor });
    all.push(...due.decisions);
    if (due.nextDueAt !== standing.now) return all;
    cursor = due.cursor;
  }
}

test('two days of standstill of a policy of every minute is decided to the last scheduled time, the last firing for all', () => {
  const everyMinute = aSchedule({ cron: ['* * * * *'], catchupMs: HOUR });
  const now = at('12:00:30');

  const decisions = decidedInAll(everyMinute, { cursor: now - 48 * HOUR, now });

  expect(new Set(decisions.map(({ scheduledFor }) => scheduledFor)).size).toBe(48 * 60);
  expect(decisions.filter(({ is }) => is === 'missed')).toHaveLength(48 * 60 - 60);
  expect(decisions.filter(({ is }) => is === 'merged')).toHaveLength(59);
  expect(decisions.filter(({ is }) => is === 'fire')).toEqual([
    { is: 'fire', scheduledFor: at('12:00:00'), trigger: 'schedule' },
  ]);
});

test('however many scheduled times a standstill left behind, none is caught up on a day of blackout', () => {
  const everyMinute = aSchedule({
    cron: ['* * * * *'],
    catchupMs: 20 * HOUR,
    blackout: [{ from: '2026-11-22', to: '2026-11-22' }],
  });
  const now = at('12:00:30') + 24 * HOUR;

  const decisions = decidedInAll(everyMinute, { cursor: now - 20 * HOUR, now });

  // The blackout of today leaves no catch-up to be made now.
  expect(decisions).toHaveLength(20 * 60);
  expect(new Set(decisions.map(({ is }) => is))).toEqual(new Set(['skip']));
});

test('with catchup of mode all, each missed scheduled time within the window fires in its turn', () => {
  const schedule = aSchedule({ catchupMs: 2 * HOUR, catchesAll: true });
  const { decisions } = whatIsDue('sweep', schedule, { cursor: at('08:30:00'), now: at('12:00:05') });
  expect(decisions).toEqual([
    { is: 'missed', scheduledFor: at('09:00:00') },
    { is: 'missed', scheduledFor: at('10:00:00') },
    { is: 'fire', scheduledFor: at('11:00:00'), trigger: 'catch-up', inTurn: true },
    { is: 'fire', scheduledFor: at('12:00:00'), trigger: 'schedule', inTurn: true },
  ]);
});

test('what was within the window when its turn began is not missed because the queue was long', () => {
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

test('what was missed before a pause is not caught up while it lasts, and a pause that is over left out what was due in it', () => {
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

test('a catch-up is not made on a day of blackout', () => {
  const schedule = aSchedule({ catchupMs: 5 * HOUR, blackout: [{ from: '2026-11-22', to: '2026-11-22' }] });
  const now = at('23:00:00') + 2 * HOUR;
  const { decisions } = whatIsDue('sweep', schedule, { cursor: at('22:30:00'), now });
  expect(decisions).toMatchObject([{ why: 'blackout' }, { why: 'blackout' }, { why: 'blackout' }]);
});

test('a disabled policy leaves every scheduled time out', () => {
  const { decisions } = whatIsDue('sweep', aSchedule({ disabled: true }), {
    cursor: at('11:30:00'),
    now: at('12:00:00'),
  });
  expect(decisions).toEqual([
    { is: 'skip', scheduledFor: at('12:00:00'), why: 'disabled', note: 'schedule.enabled: false' },
  ]);
});
