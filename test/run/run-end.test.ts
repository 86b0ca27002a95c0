import { expect, test } from 'vitest';
import type { Run } from '../../src/run/run.ts';
import { runEndOf } from '../../src/run/run-end.ts';
import { aRun } from '../support/builders.ts';

const MINUTE = 60_000;
const NOW = Date.UTC(2026, 10, 21, 1);
/** Started twenty minutes ago, with 40 of 100 targets ended. */
const aRunning = (changes: Partial<Run> = {}): Run =>
  aRun({
    status: 'running',
    planComplete: true,
    startedAt: NOW - 20 * MINUTE,
    counts: { planned: 100, succeeded: 40, failed: 0, skipped: 0, cancelled: 0 },
    ...changes,
  });
const waits = (changes: Partial<Run>) => runEndOf(aRunning(changes), NOW)?.waits;
const rollout = (is: 'closed' | 'asking' | 'pausing') => ({ is, until: NOW, batches: [] });

test('a run ends at the pace of the targets that it works on, and not before the window of its spread', () => {
  const spread = { from: NOW - 20 * MINUTE, ms: 120 * MINUTE, targets: 100 };

  expect(runEndOf(aRunning(), NOW)).toEqual({ at: NOW + 30 * MINUTE });
  expect(runEndOf(aRunning({ plan: { requests: 1, targets: 80 } }), NOW)).toEqual({ at: NOW + 60 * MINUTE });
  expect(runEndOf(aRunning({ spread }), NOW)).toEqual({ at: NOW + 100 * MINUTE });
  expect(runEndOf(aRunning({ status: 'succeeded' }), NOW)).toBeUndefined();
});

test('when a run waits, it is said for whom or what, in place of an end', () => {
  expect(waits({ status: 'awaiting-approval' })).toBe('waits for an approval');
  expect(waits({ status: 'blocked' })).toContain('account');
  expect(waits({ held: { at: NOW, since: NOW } })).toContain('a person releases it');
  expect(waits({ rollout: rollout('closed') })).toContain('waits for a person');
  expect(waits({ rollout: rollout('asking') })).toContain('waits for a person');
  expect(waits({ rollout: rollout('pausing') })).toBe('pauses between two batches until 2026-11-21 01:00Z');
  expect(waits({ status: 'planning' })).toContain('lists its targets');
  expect(runEndOf(aRunning(), NOW, NOW - MINUTE)).toEqual({
    waits: 'makes no progress: no process has worked on it since 2026-11-21 00:59Z',
  });
  expect(waits({ counts: { planned: 9, succeeded: 0, failed: 0, skipped: 0, cancelled: 0 } })).toContain(
    'no known end',
  );
});
