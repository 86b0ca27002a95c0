import { describe, expect, test } from 'vitest';
import { type ForecastRun, forecast, simulate } from '../../src/control/forecast.ts';
import type { Deadline } from '../../src/policy/policy.ts';
import { aPolicy, aSchedule } from '../support/builders.ts';

const NOW = Date.parse('2026-11-21T12:00:00Z');
const MINUTE = 60_000;
const run = (changes: Partial<ForecastRun>): ForecastRun => ({
  policy: 'p',
  at: NOW,
  requests: 100,
  weight: 3,
  minMs: 0,
  ...changes,
});

test('a run takes as long as its requests need, and at least its minimum', () => {
  expect(simulate([run({ requests: 500 })], 100, NOW)).toEqual([5 * MINUTE]);
  expect(simulate([run({ requests: 10, minMs: 7_000 })], 100, NOW)).toEqual([7_000]);
  expect(simulate([run({ requests: 5, minMs: 9 * MINUTE })], 100, NOW)).toEqual([9 * MINUTE]);
});

test('simultaneous runs share the budget by weight, and others get what a small run does not use', () => {
  const runs = [run({ requests: 300, weight: 9 }), run({ requests: 300, weight: 3 })];
  expect(simulate(runs, 100, NOW)).toEqual([4 * MINUTE, 6 * MINUTE]);
  expect(simulate([run({ requests: 10 }), run({ requests: 290 })], 100, NOW)).toEqual([12_000, 3 * MINUTE]);
});

test('runs that need more than the budget never end', () => {
  const often = Array.from({ length: 48 }, (_, hour) =>
    run({ at: NOW + hour * 30 * MINUTE, requests: 20_000 }),
  );
  expect(simulate(often, 100, NOW).at(-1)).toBe(Number.POSITIVE_INFINITY);
});

test('a run that follows another starts when that one has ended', () => {
  const first = run({ requests: 500 });
  const second = run({ after: 0, requests: 200 });
  expect(simulate([first, second], 100, NOW)).toEqual([5 * MINUTE, 2 * MINUTE]);
});

test('a run that follows one that never ends never ends either', () => {
  const runs = [run({ requests: 1_000_000 }), run({ after: 0, requests: 1 })];
  expect(simulate(runs, 100, NOW)).toEqual([Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]);
});

describe('a policy with a deadline', () => {
  /** Every six hours, in 100 requests a minute. */
  const warningOf = async (deadline: Deadline, requests: number) => {
    const policy = aPolicy({ deadline, schedule: aSchedule({ cron: ['0 */6 * * *'] }) });
    const costOf = async () => ({ requests, from: 'past runs' as const, ms: 0 });
    const states = async () => new Map();
    const usage = { limit: 100, reserved: 0 };
    const { policies } = await forecast(
      { clock: { now: () => NOW }, states, costOf },
      'default',
      [policy],
      usage,
    );
    return policies[0]?.warning;
  };

  test.each([
    [{ afterMs: 60 * MINUTE }, 6_000, undefined],
    [{ afterMs: 60 * MINUTE }, 6_100, 'Its runs would miss their deadline.'],
    // 00:00 has six hours until 06:00, and 06:00 a day.
    [{ minute: 6 * 60 }, 30_000, undefined],
    [{ minute: 60 }, 6_100, 'Its runs would miss their deadline.'],
  ] as const)(
    '%o is warned of when %i requests do not fit before it',
    async (deadline, requests, warning) => {
      expect(await warningOf(deadline, requests)).toBe(warning);
    },
  );
});
