/** The deadline of a run: when it is, when it is predicted to be missed, and the one alert. */
import { describe, expect, test } from 'vitest';
import { checkDeadline, deadlineAt, expectedEnd, timesOf } from '../../src/engine/deadline.ts';
import { formatLate, toSummary } from '../../src/run/report.ts';
import type { Run } from '../../src/run/run.ts';
import { partsOf } from '../support/between.ts';
import { aPolicy, aRun, aSchedule } from '../support/builders.ts';
import { quickSyncs } from '../support/quick-syncs.ts';
import { worldOfTest } from '../support/world-of-test.ts';

const at = Date.parse;
const iso = (time: number) => new Date(time).toISOString().replace(':00.000Z', 'Z');
const MINUTE = 60_000;

describe('the deadline is', () => {
  test.each([
    ['the time of day after the scheduled time', '2026-11-21T01:00Z', '2026-11-21T05:00Z'],
    ['on the next day when that time has passed', '2026-11-21T20:00Z', '2026-11-22T05:00Z'],
    ['on the next day when it is the scheduled time', '2026-11-21T05:00Z', '2026-11-22T05:00Z'],
    ['by the clocks of the zone, in summer', '2026-07-01T00:00Z', '2026-07-01T04:00Z'],
    ['by the clocks of the zone, when they change in between', '2026-10-25T00:00Z', '2026-10-25T05:00Z'],
  ])('%s', (_, scheduledFor, expected) => {
    expect(iso(deadlineAt({ minute: 360 }, 'Europe/Berlin', at(scheduledFor)))).toBe(expected);
  });

  test('a duration after the scheduled time, and none for runs that a person starts', () => {
    const policy = aPolicy({ deadline: { afterMs: 240 * MINUTE }, schedule: aSchedule() });
    const scheduledFor = at('2026-11-21T01:00Z');
    for (const trigger of ['schedule', 'catch-up', 'after'] as const)
      expect(timesOf(policy, { trigger, scheduledFor })).toEqual({ dueBy: at('2026-11-21T05:00Z') });
    for (const trigger of ['manual', 'retry', 'backfill'] as const)
      expect(timesOf(policy, { trigger, scheduledFor })).toEqual({});
  });
});

const START = at('2026-11-21T02:00Z');
/** A run of 100 targets that began at two o'clock, of which so many have ended. */
const running = (succeeded: number, changes: Partial<Run> = {}): Run =>
  aRun({
    ...{ status: 'running', planComplete: true, startedAt: START, createdAt: START },
    plan: { requests: 1, targets: 100 },
    counts: { planned: 100, succeeded, failed: 0, skipped: 0, cancelled: 0 },
    ...changes,
  });

test('its own pace predicts the end of a run, once a tenth of its targets have ended', () => {
  expect(expectedEnd(running(9), START + 9 * MINUTE)).toBeUndefined();
  expect(expectedEnd(running(10), START + 10 * MINUTE)).toBe(START + 100 * MINUTE);
  expect(expectedEnd(running(50), START + 10 * MINUTE)).toBe(START + 20 * MINUTE);
  // Its targets start over four hours, however fast they are.
  const spread = { from: START, ms: 240 * MINUTE, targets: 100 };
  expect(expectedEnd(running(50, { spread }), START + 10 * MINUTE)).toBe(START + 240 * MINUTE);
});

describe('the alert', () => {
  const dueBy = at('2026-11-21T04:00Z');

  /** A stored run with its deadline at four o'clock, and a supervisor whose clock is held. */
  async function supervised() {
    const world = await worldOfTest({ before: quickSyncs, sites: 1, work: false });
    const policy = aPolicy({
      deadline: { afterMs: 121 * MINUTE },
      schedule: aSchedule(),
      notify: [{ on: ['deadline'], to: 'ops' }],
    });
    const firing = { trigger: 'schedule', scheduledFor: START - MINUTE } as const;
    const { id, policyJson, ...fired } = await world.caretaker.engine.fire(policy, firing);
    expect(fired.dueBy).toBe(dueBy);
    const { runs, notices } = world.caretaker.records;
    const supervisor = () => {
      const checked = new Map<string, number>();
      return (now: number, run: Run) => {
        const deps = partsOf(world.caretaker);
        const ours = { ...run, id, policyJson, dueBy };
        return checkDeadline({ ...deps, clock: { ...deps.clock, now: () => now } }, ours, [ours], checked);
      };
    };
    const stored = async () => (await runs.get(id)) as Run;
    /** What the notices about deadlines say of the run. */
    const told = async (run: Run) => {
      const { late } = await stored();
      const open = (await notices.open(10)).filter(({ notice }) => notice?.type === 'deadline');
      return open.map(() => formatLate({ ...run, dueBy, ...(late && { late }) }));
    };
    return { supervisor, told, stored };
  }

  test('is made when the deadline is predicted to be missed, once, by whichever process', async () => {
    const { supervisor, told, stored } = await supervised();
    const [one, other] = [supervisor(), supervisor()];

    await one(START + 20 * MINUTE, running(20)); // ends at 3:40
    expect(await told(running(20))).toEqual([]);
    const late = START + 60 * MINUTE;
    await Promise.all([one(late, running(40)), other(late, running(40))]); // ends at 4:30
    expect(await told(running(40))).toEqual([
      'is predicted to miss its deadline (2026-11-21 04:00Z): expected to end at 2026-11-21 04:30Z; 40 of 100 targets have ended',
    ]);
    expect((await stored()).late).toEqual({ at: late, is: 'predicted', expected: at('2026-11-21T04:30Z') });

    // It recovers, falls back and misses the deadline: nothing more is sent.
    for (const minutes of [70, 100, 121]) await one(START + minutes * MINUTE, running(90));
    await one(START + 121 * MINUTE, await stored());
    expect(await told(running(90))).toHaveLength(1);
  });

  test('is made when it is missed without a prediction', async () => {
    const { supervisor, told, stored } = await supervised();
    const queued = { ...running(0), status: 'queued' as const };
    await supervisor()(START + 119 * MINUTE, queued);
    expect(await told(queued)).toEqual([]);
    await supervisor()(START + 120 * MINUTE, queued);
    expect(await told(queued)).toEqual(['missed its deadline (2026-11-21 04:00Z)']);
    expect(toSummary(await stored()).deadline).toEqual({
      at: '2026-11-21T04:00:00.000Z',
      missed: true,
      alerted_at: '2026-11-21T04:00:00.000Z',
      expected_end: null,
    });
  });

  test('is not made again by a prediction of the same run within ten seconds, nor just over the deadline', async () => {
    const { supervisor, told } = await supervised();
    const one = supervisor();
    await one(START + 60 * MINUTE, running(50)); // ends at 4:00
    await one(START + 60 * MINUTE + 9_000, running(10)); // not yet looked at
    expect(await told(running(10))).toEqual([]);
    await one(START + 60 * MINUTE + 10_000, running(10));
    expect(await told(running(10))).toHaveLength(1);
  });
});

test('a run that was predicted to miss its deadline and met it says so', () => {
  const dueBy = START + 60 * MINUTE;
  const late = { at: START, is: 'predicted' as const, expected: dueBy + MINUTE };
  expect(formatLate(running(100, { dueBy, late, finishedAt: dueBy - 1 }))).toBe(
    'was predicted to miss its deadline (2026-11-21 03:00Z), and met it',
  );
  expect(formatLate(running(100, { dueBy, late, finishedAt: dueBy + 1 }))).toBe(
    'missed its deadline (2026-11-21 03:00Z)',
  );
});
