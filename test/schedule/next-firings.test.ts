import { expect, test } from 'vitest';
import type { Schedule } from '../../src/policy/policy.ts';
import { dueAt } from '../../src/schedule/cron-times.ts';
import { nextFirings } from '../../src/schedule/next-firings.ts';
import { upcomingFirings } from '../../src/schedule/predicted-runs.ts';
import { aPolicy, aSchedule } from '../support/builders.ts';
import { sampleOf } from '../support/sample.ts';

const at = Date.parse;
const iso = (at: number) => new Date(at).toISOString();

const nightly = (changes: Partial<Schedule> = {}) =>
  aPolicy({ schedule: aSchedule({ cron: ['0 2 * * *'], timezone: 'Europe/Berlin', ...changes }) });

test('the next scheduled times are in the time zone of the policy', () => {
  const firings = nextFirings(nightly(), at('2026-10-24T12:00:00Z'), 2);

  // The night in which Berlin's clocks change back is between them.
  expect(firings.map(({ at: when }) => iso(when))).toEqual([
    '2026-10-25T00:00:00.000Z',
    '2026-10-26T01:00:00.000Z',
  ]);
});

test('a scheduled time is shown with its jitter, even if only the jitter is still ahead', () => {
  const policy = nightly({ jitterMs: 3_600_000 });
  const scheduledFor = at('2026-11-22T01:00:00Z');
  const due = dueAt(policy.name, policy.schedule as Schedule, scheduledFor);
  expect(due).toBeGreaterThan(scheduledFor);

  expect(nextFirings(policy, scheduledFor - 1, 1)).toEqual([{ scheduledFor, at: due }]);
  expect(nextFirings(policy, due - 1, 1)).toEqual([{ scheduledFor, at: due }]);
  expect(nextFirings(policy, due, 1)[0]?.scheduledFor).toBe(at('2026-11-23T01:00:00Z'));
});

test('the next scheduled time after a blackout is the first one outside it', () => {
  const blackout = [{ from: '2026-12-20', to: '2027-01-03' }];
  const everyMinute = nightly({ cron: ['* * * * *'], blackout });

  const [first] = nextFirings(everyMinute, at('2026-12-25T12:00:00Z'), 1);

  // Midnight in Berlin.
  expect(iso(first?.at ?? 0)).toBe('2027-01-03T23:00:00.000Z');
});

test('upcoming times within a period are listed, none outside it and no more than the limit', () => {
  const policy = nightly({ cron: ['0 * * * *'], timezone: 'UTC' });
  const noon = at('2026-11-21T12:00:00Z');
  const upcoming = (limit: number) =>
    upcomingFirings(policy, {}, { from: noon, until: noon + 2 * 3_600_000, limit }).map((one) => iso(one.at));

  expect(upcoming(9)).toEqual(['2026-11-21T13:00:00.000Z', '2026-11-21T14:00:00.000Z']);
  expect(upcoming(1)).toEqual(['2026-11-21T13:00:00.000Z']);
});

test('a policy without a schedule, for a day that never comes, or that is disabled has no scheduled times', () => {
  const now = at('2026-11-21T12:00:00Z');
  expect(nextFirings({ name: 'by-hand' }, now, 5)).toEqual([]);
  expect(upcomingFirings({ name: 'by-hand' }, {}, { from: now, until: now + 86_400_000, limit: 5 })).toEqual(
    [],
  );
  expect(nextFirings(nightly({ cron: ['0 0 31 2 *'] }), now, 5)).toEqual([]);
  expect(nextFirings(nightly({ disabled: true }), now, 5)).toEqual([]);
});

test('what was asked before does not change what is answered, whatever is asked, while time passes', () => {
  const kept = nightly({
    cron: ['*/20 3-5 * * *', '0 12 * * 1'],
    jitterMs: 300_000,
    blackout: [{ from: '2026-11-24', to: '2026-11-24' }],
  });
  const HOUR = 3_600_000;
  let checked = 0;
  for (
    let now = at('2026-11-22T00:00:00Z');
    now < at('2026-11-27T00:00:00Z');
    now += sampleOf(307, 37) * 60_000
  ) {
    for (const [count, ahead] of [
      [1, Number.POSITIVE_INFINITY],
      [300, 24 * HOUR],
      [5, Number.POSITIVE_INFINITY],
      [2, 3 * HOUR],
    ] as const) {
      const fresh = nextFirings(structuredClone(kept), now, count, now + ahead);
      expect(nextFirings(kept, now, count, now + ahead)).toEqual(fresh);
      checked += fresh.length;
    }
  }
  expect(checked).toBeGreaterThan(sampleOf(100, 1_000));
});
