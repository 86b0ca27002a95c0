import { describe, expect, test } from 'vitest';
import { deservesLook, nextSweepAfterMs } from '../../src/engine/pace.ts';

describe('how often followed work is swept', () => {
  test('about six times in the time it usually takes', () => {
    expect(nextSweepAfterMs(60_000, 0)).toBe(10_000);
  });
  test('never more than once a second, never less than every twenty', () => {
    expect(nextSweepAfterMs(10, 0)).toBe(1_000);
    expect(nextSweepAfterMs(3_600_000, 0)).toBe(20_000);
  });
  test('by its age, while nobody knows how long it takes', () => {
    expect(nextSweepAfterMs(undefined, 20_000)).toBe(5_000);
  });
});

describe('when work is looked at alone', () => {
  const never = Number.POSITIVE_INFINITY;
  test('soon, when the list left it unclear', () => {
    expect(deservesLook({ ageMs: 6_000, lookedAgoMs: never, unclear: true }, 60_000)).toBe(true);
    expect(deservesLook({ ageMs: 4_000, lookedAgoMs: never, unclear: true }, 60_000)).toBe(false);
  });
  test('when the list never showed it in twice the usual time', () => {
    expect(deservesLook({ ageMs: 119_000, lookedAgoMs: never, unclear: false }, 60_000)).toBe(false);
    expect(deservesLook({ ageMs: 121_000, lookedAgoMs: never, unclear: false }, 60_000)).toBe(true);
  });
  test('not again before the usual time has passed once more', () => {
    expect(deservesLook({ ageMs: 500_000, lookedAgoMs: 59_000, unclear: false }, 60_000)).toBe(false);
    expect(deservesLook({ ageMs: 500_000, lookedAgoMs: 61_000, unclear: false }, 60_000)).toBe(true);
  });
});
