/** The clock of every room, so that a test can hold it and a daemon can use Redis's time. */
export interface Clock {
  /** The current time, in milliseconds since 1970. */
  now(): number;
  /** Resolves after `ms`, or immediately when `signal` aborts. Never rejects, so callers check the signal. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** The maximum of Node's timers, 24.8 days: a longer one would fire immediately. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** The rest of a loop between two rounds, which something that happens can end. */
export interface Rest {
  /**
   * Resolves after `atMost`; or when it is woken, then not before `atLeast`. It counts as woken when that happened since
   * the previous rest ended.
   */
  for(atMost: number, atLeast: number): Promise<void>;
  wake(): void;
}

/** `closing` ends every rest immediately. */
export function restOf(clock: Clock, closing: AbortSignal): Rest {
  let woken = new AbortController();
  // With a reason of its own: the one that is made otherwise costs a trace of the stack.
  const wake = () => woken.abort('woken');
  closing.addEventListener('abort', wake, { once: true });
  return {
    async for(atMost, atLeast) {
      const from = clock.now();
      await clock.sleep(atMost, woken.signal);
      // The clock may have gone back meanwhile.
      await clock.sleep(Math.min(atLeast, from + atLeast - clock.now()), closing);
      if (!closing.aborted) woken = new AbortController();
    },
    wake,
  };
}

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

/** Counts from the start of the process, independent of later changes of the machine's clock. */
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

/** The same clock, `offsetMs` ahead. Machines with different clocks use it to agree on Redis's time. */
export function shiftedClock(clock: Clock, offsetMs: number): Clock {
  return { now: () => clock.now() + offsetMs, sleep: (ms, signal) => clock.sleep(ms, signal) };
}

/** A time as it is written in records and JSON: ISO 8601 in UTC, to the millisecond. */
export const isoTime = (ms: number): string => new Date(ms).toISOString();

/** The same of a time that may be missing, as JSON shows it. */
export const isoTimeOrNull = (at: number | undefined): string | null =>
  at === undefined ? null : isoTime(at);

/** A time for a person, in UTC, to the minute: `2026-11-21 02:00Z`. */
export const isoMinute = (at: number | string): string =>
  `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')}Z`;

/** The same to the second where there are any: a pause can be shorter than a minute. */
export const isoEnd = (ms: number): string =>
  ms % 60_000 < 1_000 ? isoMinute(ms) : `${isoTime(ms).slice(0, 19).replace('T', ' ')}Z`;

/** The time of day, in UTC: `14:03:10Z`. For what happens while a person looks on. */
export const isoClock = (ms: number): string => `${isoTime(ms).slice(11, 19)}Z`;

/** The bounds of a time that is not known exactly, in milliseconds since 1970. */
export interface TimeBounds {
  readonly earliest: number;
  readonly latest: number;
}

/**
 * A timestamp of the service as a time; undefined when it is absent or unreadable. One without milliseconds
 * may have been truncated.
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

/** The middle of the bounds. */
export const middleOf = ({ earliest, latest }: TimeBounds): number => Math.round((earliest + latest) / 2);

/** A duration in its two largest units: `1 h 4 min`. */
export function formatSpan(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  const units = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'min'],
    [seconds % 60, 's'],
  ] as const;
  const first = units.findIndex(([count]) => count > 0);
  if (first < 0) return '0 s';
  return units
    .slice(first, first + 2)
    .filter(([count]) => count > 0)
    .map(([count, unit]) => `${count} ${unit}`)
    .join(' ');
}
