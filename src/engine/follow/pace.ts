/** How often followed work is looked at. Pure, so that what it costs and how late it may be can be tested. */

const MIN_INTERVAL_MS = 1_000;
const MAX_INTERVAL_MS = 20_000;

/**
 * The share of an account's requests that sweeps of one kind may take, as long as that keeps to
 * `MAX_INTERVAL_MS`.
 */
const MAX_SWEEP_SHARE = 0.05;
/**
 * A page has a hundred items. With half a page ended, a sweep costs little more than if one waited for more.
 */
const ENDS_PER_SWEEP = 50;
/** What each sweep lists again of what the one before has shown. */
const OVERLAP_MS = 10_000;
/** Hardly anything is over sooner than in this share of the usual time. */
const MIN_SHARE_OF_USUAL = 0.5;

/** What is known of the work of one kind that is in flight. */
export interface InFlight {
  /** How long such work usually takes; nothing while none was seen. */
  usualMs: number | undefined;
  /** How old each is. */
  agesMs: readonly number[];
  /** What the account is allowed. */
  requestsPerMinute: number;
}

/**
 * How long to wait until the next sweep. Never more than `MAX_INTERVAL_MS`, so never past a deadline by more
 * than that.
 *
 * When it is known how long such work usually takes, a sixth of that: ends are seen a twelfth late on
 * average; with much in flight sooner, as soon as half a page has ended; but no sooner than the budget
 * allows, and not before anything can be over. The last ones are looked for when all of them should be over.
 * While nothing is known, a quarter of what the oldest has taken so far.
 */
export function nextSweepAfterMs({ usualMs, agesMs, requestsPerMinute }: InFlight): number {
  const oldest = Math.max(0, ...agesMs);
  if (usualMs === undefined) return bounded(oldest / 4);
  const endsPerMs = agesMs.length / usualMs;
  const pages = 1 + (OVERLAP_MS * endsPerMs) / 100;
  const affordable = (pages * 60_000) / (requestsPerMinute * MAX_SWEEP_SHARE);
  const wish = Math.max(Math.min(usualMs / 6, ENDS_PER_SWEEP / endsPerMs), affordable);
  const allOver = usualMs * 1.03 + 500 - Math.min(...agesMs);
  if (allOver > 0 && allOver < 1.5 * wish) return bounded(allOver);
  return bounded(Math.max(wish, usualMs * MIN_SHARE_OF_USUAL - oldest));
}

const bounded = (ms: number): number => Math.min(Math.max(ms, MIN_INTERVAL_MS), MAX_INTERVAL_MS);

/** The longest that nobody asks a service that is away. */
const MAX_PROBE_INTERVAL_MS = 10_000;

/**
 * How long to wait, after a request that got no answer, until the next one is worth its while: the longer the
 * service has been away, the longer. One asks then for all.
 */
export const probeAfterMs = (awayMs: number): number => Math.min(awayMs / 4, MAX_PROBE_INTERVAL_MS);

/** What is known of work that the sweeps have not settled. */
export interface Unresolved {
  ageMs: number;
  /** Looks of its own that it has had, and how long ago the last of them was. */
  polls: number;
  polledAgoMs: number;
  /** The list shows it, but not how it stands. */
  unclear: boolean;
  /** How long ago a look found that the service knows nothing of it any more, and none since has found it. */
  lostForMs?: number | undefined;
}

/** A site can be between two states: what the service does not know now, it may know again so much later. */
const CONFIRM_MS = 60_000;
/** From when on work is looked at once more that was found lost. */
export const confirmAt = (lostAt: number): number => lostAt + CONFIRM_MS;
const MIN_PAUSE_MS = 20_000;
const MAX_PAUSE_MS = 10 * 60_000;

/**
 * Whether work deserves a look of its own: what the list left unclear soon, what the list never showed when
 * it has taken more than twice as long as usual. Each look doubles the pause before the next, and old work is
 * looked at more seldom from the start: a sweep still sees its end at once. What seems lost is looked at once
 * more after a minute.
 */
export function isPollDue(work: Unresolved, usualMs: number | undefined): boolean {
  const { ageMs, polls: looks, polledAgoMs: lookedAgoMs, unclear, lostForMs: lostAgoMs } = work;
  if (lostAgoMs !== undefined) return lostAgoMs >= CONFIRM_MS;
  const usual = usualMs ?? 60_000;
  if (looks > 0) {
    const pause = Math.max(usual, ageMs / 10, MIN_PAUSE_MS) * 2 ** Math.min(looks - 1, 10);
    return lookedAgoMs >= Math.min(pause, MAX_PAUSE_MS);
  }
  return unclear ? ageMs > 5_000 : ageMs > Math.max(2 * usual, 60_000);
}

/**
 * The share of an account's requests that looks may take: the rest is for sweeps, which settle many at once,
 * and work.
 */
const MAX_POLL_SHARE = 0.2;
/** Where work has been lost no sweep will ever settle it, and it holds its place until looks have. */
const MAX_POLL_SHARE_FOR_LOST = 0.6;
/** So much of a window is free while nobody is kept waiting by more looks. */
const FREE_SHARE = 0.25;
const REQUESTS_PER_POLL = 2;
/** A round of looks holds up whatever else is done for the account. */
const MAX_POLLS_PER_ROUND = 20;

/** What decides how many looks an account can afford. */
export interface PollBudget {
  /** Requests that the account has in a minute, and those of them that are left in this one. */
  limit: number;
  remaining: number;
  /** What looks have cost in the last minute. */
  spentLastMinute: number;
  /** Whether some of the followed work is known to be lost. */
  someLost: boolean;
}

/** How many looks a round may take. */
export function affordablePolls({ limit, remaining, spentLastMinute, someLost }: PollBudget): number {
  const share = someLost && remaining >= limit * FREE_SHARE ? MAX_POLL_SHARE_FOR_LOST : MAX_POLL_SHARE;
  const left = Math.floor((limit * share - spentLastMinute) / REQUESTS_PER_POLL);
  // However small an account is, one look a minute finds out what no sweep will ever show.
  return Math.min(Math.max(left, spentLastMinute === 0 ? 1 : 0), MAX_POLLS_PER_ROUND);
}
