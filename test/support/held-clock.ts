/** A clock that stands still until a test moves it. */
import type { Clock } from '../../src/clock.ts';

export interface HeldClock extends Clock {
  /**
   * Moves time forward, and wakes sleepers in the order of their wake times. Each continues, as far as it can
   * without real I/O, before the next wakes. So a loop of sleeps sees every one of its wake times.
   */
  advance(ms: number): Promise<void>;
  /** The number of sleepers. A test uses it to wait until the tested code sleeps. */
  sleepers(): number;
}

/** A Saturday noon in UTC, far enough from midnight that a test of a few hours stays within the day. */
export const NOON = Date.parse('2026-11-21T12:00:00Z');

/** Starts at `startMs`. */
export function heldClock(startMs: number = NOON): HeldClock {
  let now = startMs;
  let alarms: { at: number; wake: () => void }[] = [];

  /** Removes the earliest alarm up to a time; of two at the same time, the one that was set first. */
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

/** Resolves after all continuations of resolved promises have run. */
const settled = () => new Promise<void>((resolve) => setImmediate(resolve));
