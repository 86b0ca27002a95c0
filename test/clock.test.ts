import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { isoClock, isoEnd, isoTime, shiftedClock, systemClock } from '../src/clock.ts';
import { heldClock } from './support/held-clock.ts';

describe('a sleep by the machine’s clock', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  /** Whether the sleep is over. */
  function watch(sleep: Promise<void>): () => boolean {
    let over = false;
    void sleep.then(() => {
      over = true;
    });
    return () => over;
  }

  test('ends when its time is over, and not before', async () => {
    const over = watch(systemClock.sleep(1_000));
    await vi.advanceTimersByTimeAsync(999);
    expect(over()).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(over()).toBe(true);
  });

  test('may last for months, though a timer of Node cannot', async () => {
    const days = 24 * 60 * 60 * 1_000;
    const over = watch(systemClock.sleep(60 * days));
    await vi.advanceTimersByTimeAsync(59 * days);
    expect(over()).toBe(false);
    await vi.advanceTimersByTimeAsync(days);
    expect(over()).toBe(true);
  });

  test('ends at once, without an error, when its signal aborts', async () => {
    const waking = new AbortController();
    const sleep = systemClock.sleep(60 * 24 * 60 * 60 * 1_000, waking.signal);
    waking.abort(new Error('enough'));
    await sleep;
    await systemClock.sleep(1_000, waking.signal);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('of no time or less ends with the next turn', async () => {
    const sleeps = Promise.all([systemClock.sleep(0), systemClock.sleep(-5)]);
    await vi.advanceTimersByTimeAsync(0);
    await sleeps;
  });
});

test('a shifted clock shows another time and sleeps as long as the one it follows', async () => {
  const clock = heldClock(1_000);
  const shifted = shiftedClock(clock, -250);
  expect(shifted.now()).toBe(750);

  const sleep = shifted.sleep(100);
  await clock.advance(100);
  await sleep;

  expect(shifted.now()).toBe(850);
});

test('the machine’s clock shows milliseconds since 1970', () => {
  const before = Date.now();
  expect(systemClock.now()).toBeGreaterThanOrEqual(before);
});

test('a moment is written in UTC, to the millisecond', () => {
  expect(isoTime(1_795_262_400_007)).toBe('2026-11-21T12:00:00.007Z');
});

test('the end of something short is shown to the second, and a whole minute as such', () => {
  expect(isoEnd(Date.UTC(2026, 10, 21, 12, 1, 30))).toBe('2026-11-21 12:01:30Z');
  expect(isoEnd(Date.UTC(2026, 10, 21, 12, 1, 0, 400))).toBe('2026-11-21 12:01Z');
  expect(isoClock(Date.UTC(2026, 10, 21, 12, 1, 30))).toBe('12:01:30Z');
});
