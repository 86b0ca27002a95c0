/** A clock that stands still until a test moves it. */
import type { Clock } from '../../src/clock.ts';

export interface HeldClock extends Clock {
  /**
   * Moves time forward, waking sleepers in the order of their alarms; each has run on, as far as it can
   * without real I/O, before the next wakes, so that a loop of sleeps sees every one of its alarms.
   */
  advance(ms: number): Promise<void>;
  /** How many sleep; lets a test wait until what it tests has gone to sleep. */
  sleepers(): number;
}

/** A Saturday noon in UTC, far enough from midnight that a test of a few hours stays within the day. */
export const NOON = Date.parse('2026-11-21T12:00:00Z');

/** Starts at `startMs`. */
export function heldClock(startMs: number = NOON): HeldClock {
  let now = startMs;
  let alarms: { at: number; wake: () => void }[] = [];

  /** Takes the earliest alarm up to a moment; of two at the same time, the one that was set first. */
  const takeAlarm = (until: number) => {
    const next = alarms.reduce<(typeof alarms)[number] | undefined>(
      (first, one) => (one.at <= until && (!first || one.at < first.at) ? one : first),
      undefined,
    );
    alarms = alarms.filter((one) => one !== next);
    return next;
  };

  return {
    now: () => now,
    sleepers: () => alarms.length,
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        if (signal?.aborted || ms <= 0) return resolve();
        const stop = () => {
          alarms = alarms.filter((one) => one !== alarm);
          resolve();
        };
        const alarm = {
          at: now + ms,
          wake() {
            signal?.removeEventListener('abort', stop);
            resolve();
          },
        };
        alarms.push(alarm);
        signal?.addEventListener('abort', stop, { once: true });
      }),
    async advance(ms) {
      const end = now + ms;
      for (let alarm = takeAlarm(end); alarm; alarm = takeAlarm(end)) {
        now = Math.max(now, alarm.at);
        alarm.wake();
        await settled();
      }
      now = end;
      await settled();
    },
  };
}

/** Promises that are resolved have run on when this resolves. */
const settled = () => new Promise<void>((resolve) => setImmediate(resolve));
