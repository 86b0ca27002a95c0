import { expect, test } from 'vitest';
import { type ForecastRun, simulate } from '../../src/control/forecast.ts';

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

test('a run takes as many minutes as its requests need, and at least its minimum', () => {
  expect(simulate([run({ requests: 500 })], 100, NOW)).toEqual([5 * MINUTE]);
  expect(simulate([run({ requests: 5, minMs: 9 * MINUTE })], 100, NOW)).toEqual([9 * MINUTE]);
});

test('simultaneous runs share the budget by weight, and others get what a small run does not use', () => {
  const runs = [run({ requests: 300, weight: 9 }), run({ requests: 300, weight: 3 })];
  expect(simulate(runs, 100, NOW)).toEqual([4 * MINUTE, 6 * MINUTE]);
  expect(simulate([run({ requests: 10 }), run({ requests: 290 })], 100, NOW)).toEqual([MINUTE, 3 * MINUTE]);
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
