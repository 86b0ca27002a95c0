/** Where every room gets its time from, so that a test can hold it and a daemon can share Redis's. */
export interface Clock {
  /** The moment it is, in milliseconds since 1970. */
  now(): number;
  /** Resolves after `ms`, or at once when `signal` aborts; it never rejects, so callers look at the signal. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** The machine's own clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const done = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', done);
        resolve();
      };
      const timer = setTimeout(done, Math.max(0, ms));
      signal?.addEventListener('abort', done, { once: true });
    }),
};

/** The same clock, `offsetMs` ahead: how machines whose clocks differ agree on Redis's time. */
export function shiftedClock(clock: Clock, offsetMs: number): Clock {
  return { now: () => clock.now() + offsetMs, sleep: (ms, signal) => clock.sleep(ms, signal) };
}

/** A moment as it is written in records and JSON: ISO 8601 in UTC, to the millisecond. */
export const isoTime = (ms: number): string => new Date(ms).toISOString();
