/** How often followed work is swept and polled. Pure functions, so that tests can measure cost and delay. */

const MIN_INTERVAL_MS = 1_000;
const MAX_INTERVAL_MS = 20_000;

/**
 * The fraction of an account's requests that sweeps of one kind may use. `MAX_INTERVAL_MS` takes precedence.
 */
const MAX_SWEEP_SHARE = 0.05;
/**
 * A page has 100 items. A sweep for half a page of ends costs little more per end than a later sweep for
 * more.
 */
const ENDS_PER_SWEEP = 50;
/** How much each sweep lists again of what the sweep before has shown. */
const OVERLAP_MS = 10_000;
/** Hardly any work ends before this fraction of the usual time. */
const MIN_SHARE_OF_USUAL = 0.5;

/** What is known about the work in flight of one kind. */
export interface InFlight {
  /** How long such work usually takes; undefined while none has been seen. */
  usualMs: number | undefined;
  /** How long ago each began. */
  agesMs: readonly number[];
  /** The request limit of the account. */
  requestsPerMinute: number;
}

/**
 * How long to wait until the next sweep. Never more than `MAX_INTERVAL_MS`, so no deadline is missed by more.
 *
 * When the usual duration is known, the interval is a sixth of it, so that ends are seen a twelfth of it late
 * on average. With much in flight it is shorter: half a page of ends is enough. It is never shorter than the
 * budget allows, and no sweep comes before any work can have ended. The last sweep comes when all work should
 * have ended. While the usual duration is unknown, the interval is a quarter of the age of the oldest work.
 */
export function nextSweepAfterMs({ usualMs, agesMs, requestsPerMinute }: InFlight): number {
  const oldest = Math.max(0, ...agesMs);
  if (usualMs === undefined) return bounded(oldest / 4);
  const endsPerMs = agesMs.length / usualMs;
  const pages = 1 + (OVERLAP_MS * endsPerMs) / 100;
  const affordableInterval = (pages * 60_000) / (requestsPerMinute * MAX_SWEEP_SHARE);
  const interval = Math.max(Math.min(usualMs / 6, ENDS_PER_SWEEP / endsPerMs), affordableInterval);
  const untilAllEnded = usualMs * 1.03 + 500 - Math.min(...agesMs);
  if (untilAllEnded > 0 && untilAllEnded < 1.5 * interval) return bounded(untilAllEnded);
  return bounded(Math.max(interval, usualMs * MIN_SHARE_OF_USUAL - oldest));
}

const bounded = (ms: number): number => Math.min(Math.max(ms, MIN_INTERVAL_MS), MAX_INTERVAL_MS);

/** The longest time without a probe while the service is unavailable. */
const MAX_PROBE_INTERVAL_MS = 10_000;

/**
 * How long to wait after a request without an answer until the next probe. The wait grows with the outage.
 * Then one probe serves all waiting work.
 */
export const probeAfterMs = (outageMs: number): number => Math.min(outageMs / 4, MAX_PROBE_INTERVAL_MS);

/** What is known about work whose end the sweeps have not shown. */
export interface Unresolved {
  ageMs: number;
  /** How often it was polled, and how long ago the last time was. */
  polls: number;
  polledAgoMs: number;
  /** The list shows the work, but not its status. */
  unclear: boolean;
  /** No sweep shows the work, whatever becomes of it. */
  unswept?: boolean;
  /** How long ago a poll found that the service no longer knows the work, if no later poll found it again. */
  lostForMs?: number | undefined;
}

/**
 * A site can be between two states: work that the service does not know now, it may know again after this
 * time.
 */
const CONFIRM_MS = 60_000;
/** When work that was found lost is polled again. */
export const confirmAt = (lostAt: number): number => lostAt + CONFIRM_MS;
const MIN_PAUSE_MS = 20_000;
const MAX_PAUSE_MS = 10 * 60_000;
/** The first pauses between polls of work that no sweep shows. Later ones are half of its age. */
const MIN_UNSWEPT_PAUSE_MS = 10_000;

/**
 * Whether work is polled now. Work that the list left unclear is polled soon. Work that the list never showed
 * is polled when it has taken more than twice the usual time; work that no list shows, from the start. Each poll
 * doubles the pause before the next one, and old work is polled less often from the start: a sweep still shows its end
 * at once. Work that seems lost is polled once more after a minute.
 */
export function isPollDue(work: Unresolved, usualMs: number | undefined): boolean {
  const { ageMs, polls, polledAgoMs, unclear, lostForMs } = work;
  if (lostForMs !== undefined) return lostForMs >= CONFIRM_MS;
  if (work.unswept && polls > 0)
    return polledAgoMs >= Math.min(Math.max(ageMs / 2, MIN_UNSWEPT_PAUSE_MS), MAX_PAUSE_MS);
  const usual = usualMs ?? 60_000;
  if (polls > 0) {
    const pause = Math.max(usual, ageMs / 10, MIN_PAUSE_MS) * 2 ** Math.min(polls - 1, 10);
    return polledAgoMs >= Math.min(pause, MAX_PAUSE_MS);
  }
  return unclear || work.unswept ? ageMs > 5_000 : ageMs > Math.max(2 * usual, 60_000);
}

/**
 * The fraction of an account's requests that polls may use. The rest is for actions, and for sweeps, which
 * show many ends with one request.
 */
const MAX_POLL_SHARE = 0.2;
/**
 * The same when work is lost. No sweep will ever show its end, and it holds its place of the concurrency
 * until polls have confirmed the loss.
 */
const MAX_POLL_SHARE_FOR_LOST = 0.6;
/** While this fraction of a window is unused, more polls delay no other request. */
const FREE_SHARE = 0.25;
const REQUESTS_PER_POLL = 2;
/** A round of polls delays the other work of the supervisor for the account. */
const MAX_POLLS_PER_ROUND = 20;

/** The facts that decide how many polls an account can afford. */
export interface PollBudget {
  /** The account's requests per minute, and how many are left in the current window. */
  limit: number;
  remaining: number;
  /** The requests that polls cost in the last minute. */
  spentLastMinute: number;
  /** Whether some of the followed work is known to be lost. */
  someLost: boolean;
}

/** How many polls a round may make. */
export function affordablePolls({ limit, remaining, spentLastMinute, someLost }: PollBudget): number {
  const share = someLost && remaining >= limit * FREE_SHARE ? MAX_POLL_SHARE_FOR_LOST : MAX_POLL_SHARE;
  const left = Math.floor((limit * share - spentLastMinute) / REQUESTS_PER_POLL);
  // Even the smallest account gets one poll a minute, which finds what no sweep will ever show.
  return Math.min(Math.max(left, spentLastMinute === 0 ? 1 : 0), MAX_POLLS_PER_ROUND);
}
