/** Where every room gets its time from, so that a test can hold it and a daemon can share Redis's. */
export interface Clock {
  /** The moment it is, in milliseconds since 1970. */
  now(): number;
  /**
   * Resolves after `ms`, or at once when `signal` aborts; it never rejects, so callers look at the signal.
   */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** The longest that one of Node's timers can be set to, 24.8 days: a longer one would ring at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** The machine's own clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  async sleep(ms, signal) {
    let left = ms;
    do {
      await timer(Math.min(Math.max(left, 0), MAX_TIMER_MS), signal);
      left -= MAX_TIMER_MS;
    } while (left > 0 && !signal?.aborted);
  },
};

/** Counts on from the time at which the process began, whatever becomes of the machine's clock since. */
export const steadyClock: Clock = {
  now: () => Math.round(performance.timeOrigin + performance.now()),
  sleep: systemClock.sleep,
};

const timer = (ms: number, signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const done = () => {
      clearTimeout(set);
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const set = setTimeout(done, ms);
    signal?.addEventListener('abort', done, { once: true });
  });

/** The same clock, `offsetMs` ahead: how machines whose clocks differ agree on Redis's time. */
export function shiftedClock(clock: Clock, offsetMs: number): Clock {
  return { now: () => clock.now() + offsetMs, sleep: (ms, signal) => clock.sleep(ms, signal) };
}

/** A moment as it is written in records and JSON: ISO 8601 in UTC, to the millisecond. */
export const isoTime = (ms: number): string => new Date(ms).toISOString();

/** A moment for a person, in UTC, to the minute: `2026-11-21 02:00Z`. */
export const isoMinute = (ms: number): string => `${isoTime(ms).slice(0, 16).replace('T', ' ')}Z`;

/**
 * When something was, as far as one knows: no earlier and no later than these, in milliseconds since 1970.
 */
export interface TimeBounds {
  readonly earliest: number;
  readonly latest: number;
}

/**
 * A timestamp of the service as a time, nothing for one that is absent or unreadable. One that shows no
 * milliseconds may have had them cut off.
 */
export function timeOf(timestamp: string | null | undefined): TimeBounds | undefined {
  const earliest = Date.parse(timestamp ?? '');
  if (Number.isNaN(earliest)) return undefined;
  return { earliest, latest: earliest % 1_000 === 0 ? earliest + 999 : earliest };
}

/** Whether `one` was before or after `other`; `uncertain` where the bounds overlap. */
export function orderOf(one: TimeBounds, other: TimeBounds): 'before' | 'after' | 'uncertain' {
  if (one.latest < other.earliest) return 'before';
  return one.earliest >= other.latest ? 'after' : 'uncertain';
}

/** The likeliest time within the bounds. */
export const middleOf = ({ earliest, latest }: TimeBounds): number => Math.round((earliest + latest) / 2);
