import { describe, expect, test } from 'vitest';
import {
  affordablePolls,
  isPollDue,
  nextSweepAfterMs,
  probeAfterMs,
} from '../../../src/engine/follow/pace.ts';

const MINUTE = 60_000;

describe('followed work is swept', () => {
  const work = { usualMs: MINUTE, agesMs: [40_000, 1_000], requestsPerMinute: 200 };
  test('about six times in its usual duration', () => {
    expect(nextSweepAfterMs(work)).toBe(10_000);
  });
  test('not before any of it can have ended', () => {
    expect(nextSweepAfterMs({ ...work, agesMs: [12_000, 1_000] })).toBe(18_000);
  });
  test('as soon as half a page has ended, when much is in flight and the budget of the account allows it', () => {
    const many = { ...work, agesMs: Array.from({ length: 1_200 }, (_, index) => index * 50) };
    expect(nextSweepAfterMs({ ...many, requestsPerMinute: 20_000 })).toBe(2_500);
  });
  test('so that all sweeps use a twentieth of the budget of the account', () => {
    expect(nextSweepAfterMs({ ...work, requestsPerMinute: 100 })).toBeCloseTo(12_040, 0);
  });
  test('when the last of it should have ended', () => {
    expect(nextSweepAfterMs({ ...work, agesMs: [58_000, 55_000] })).toBeCloseTo(7_300, 0);
  });
  test('at most once per second, and at least every twenty seconds', () => {
    expect(nextSweepAfterMs({ ...work, usualMs: 10, requestsPerMinute: 100_000 })).toBe(1_000);
    expect(nextSweepAfterMs({ ...work, usualMs: 60 * MINUTE })).toBe(20_000);
    expect(nextSweepAfterMs({ ...work, requestsPerMinute: 5 })).toBe(20_000);
  });
  test('by its age, while its usual duration is unknown', () => {
    expect(nextSweepAfterMs({ ...work, usualMs: undefined, agesMs: [20_000] })).toBe(5_000);
  });
});

test('an unavailable service is checked at growing intervals, at most ten seconds apart', () => {
  expect([0, 4_000, 20_000, 3_600_000].map(probeAfterMs)).toEqual([0, 1_000, 5_000, 10_000]);
});

const fresh = { polls: 0, polledAgoMs: Number.POSITIVE_INFINITY, unclear: false };

describe('work is polled', () => {
  test('soon, when its status in the list is unclear', () => {
    expect(isPollDue({ ...fresh, ageMs: 6_000, unclear: true }, MINUTE)).toBe(true);
    expect(isPollDue({ ...fresh, ageMs: 4_000, unclear: true }, MINUTE)).toBe(false);
  });
  test('early and several times, when no list shows it', () => {
    const polledAt: number[] = [];
    for (let ageMs = 0; ageMs <= 3_600_000; ageMs += 1_000) {
      const last = polledAt.at(-1) ?? Number.NEGATIVE_INFINITY;
      const polled = { polls: polledAt.length, polledAgoMs: ageMs - last };
      if (isPollDue({ ...fresh, ...polled, ageMs, unswept: true }, MINUTE)) polledAt.push(ageMs);
    }
    expect(polledAt.slice(0, 5)).toEqual([6_000, 16_000, 32_000, 64_000, 128_000]);
    expect(polledAt.length).toBeLessThan(15);
  });
  test('when no list has shown it for twice its usual duration', () => {
    expect(isPollDue({ ...fresh, ageMs: 119_000 }, MINUTE)).toBe(false);
    expect(isPollDue({ ...fresh, ageMs: 121_000 }, MINUTE)).toBe(true);
  });
  test('not again before its usual duration has passed once more', () => {
    const looked = { ...fresh, polls: 1, ageMs: 300_000 };
    expect(isPollDue({ ...looked, polledAgoMs: 59_000 }, MINUTE)).toBe(false);
    expect(isPollDue({ ...looked, polledAgoMs: 61_000 }, MINUTE)).toBe(true);
  });
  test('at intervals that double each time, at most ten minutes long', () => {
    const pauseAfter = (polls: number, ageMs: number) => {
      let ms = 0;
      while (!isPollDue({ ...fresh, polls: polls, ageMs, polledAgoMs: ms }, MINUTE)) ms += 1_000;
      return ms / MINUTE;
    };
    expect([1, 2, 3, 4, 5, 50].map((polls) => pauseAfter(polls, 300_000))).toEqual([1, 2, 4, 8, 10, 10]);
    // Old work is no more urgent for a process that has only just begun to follow it.
    expect([20, 40, 240].map((minutes) => pauseAfter(1, minutes * MINUTE))).toEqual([2, 4, 10]);
  });
  test('a minute after the service no longer knew it, however often it was polled before', () => {
    const lost = { ...fresh, polls: 9, ageMs: 2 * 3_600_000 };
    expect(isPollDue({ ...lost, lostForMs: 59_000 }, MINUTE)).toBe(false);
    expect(isPollDue({ ...lost, lostForMs: 60_000 }, MINUTE)).toBe(true);
  });
});

describe('polls may cost', () => {
  const usual = { limit: 200, remaining: 200, spentLastMinute: 0, someLost: false };
  test('a fifth of the budget per minute, at two requests each', () => {
    expect(affordablePolls(usual)).toBe(20);
    expect(affordablePolls({ ...usual, spentLastMinute: 30 })).toBe(5);
    expect(affordablePolls({ ...usual, spentLastMinute: 40 })).toBe(0);
  });
  test('three fifths while work is known to be lost, as long as a quarter of the window is free', () => {
    const lost = { ...usual, someLost: true };
    expect(affordablePolls({ ...lost, spentLastMinute: 80 })).toBe(20);
    expect(affordablePolls({ ...lost, spentLastMinute: 114 })).toBe(3);
    expect(affordablePolls({ ...lost, spentLastMinute: 120 })).toBe(0);
    expect(affordablePolls({ ...lost, spentLastMinute: 30, remaining: 50 })).toBe(20);
    expect(affordablePolls({ ...lost, spentLastMinute: 30, remaining: 49 })).toBe(5);
  });
  test('so much that 42 targets whose work is lost end within three minutes', () => {
    const open = Array.from({ length: 42 }, () => ({ lostAt: undefined as number | undefined }));
    let spent: number[] = [];
    let now = 0;
    for (; open.length > 0; now += 10_000) {
      spent = spent.filter((at) => now - at < MINUTE);
      const due = open.filter(({ lostAt }) =>
        isPollDue(
          { ...fresh, ageMs: MINUTE + 1 + now, lostForMs: lostAt === undefined ? undefined : now - lostAt },
          30_000,
        ),
      );
      const budget = { limit: 200, remaining: 200 - spent.length, spentLastMinute: spent.length };
      const someLost = open.some(({ lostAt }) => lostAt !== undefined);
      for (const one of due.slice(0, affordablePolls({ ...budget, someLost }))) {
        spent.push(now, now);
        if (one.lostAt === undefined) one.lostAt = now;
        else open.splice(open.indexOf(one), 1);
      }
    }
    expect(now).toBeLessThan(3 * MINUTE);
  });
  test('at most twenty polls per round, whatever the budget', () => {
    expect(affordablePolls({ ...usual, limit: 100_000, remaining: 100_000 })).toBe(20);
  });
  test('at least one poll per minute for the smallest budget', () => {
    expect(affordablePolls({ ...usual, limit: 4, remaining: 4 })).toBe(1);
    expect(affordablePolls({ ...usual, limit: 4, remaining: 2, spentLastMinute: 2 })).toBe(0);
  });
});
