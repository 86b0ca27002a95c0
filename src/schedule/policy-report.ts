/**
 * A policy as everybody outside sees it: the one JSON object of `policies --json` and `GET /api/v1/policies`.
 * When it fires next is said in one place, so that no two of our faces can tell different times.
 */
import { isoTime } from '../clock.ts';
import type { Policy } from '../policy/policy.ts';
import { freezeAt } from '../records/freeze-store.ts';
import { type Pause, type PolicyState, pauseAt } from '../records/policy-store.ts';
import type { KeptPolicy } from '../records/presence-store.ts';
import type { Run, RunStatus } from '../run/run.ts';
import { type NextFiring, nextFirings } from './next-firings.ts';

export interface PolicyReport {
  name: string;
  description: string | null;
  job: string;
  account: string;
  cron: string[];
  timezone: string | null;
  /** Whether its schedule makes runs (`schedule.enabled`); null without a schedule. */
  enabled: boolean | null;
  /**
   * When it fires next, jitter included, after a pause that ends by itself; null when paused for good,
   * disabled or by hand.
   */
  next: string | null;
  paused: ReturnType<typeof pauseReport> | null;
  last_run: { run: string; status: RunStatus } | null;
  /** Set while its file is broken, and a daemon keeps active what the file held before. */
  kept: ReturnType<typeof keptReport> | null;
}

/**
 * The next firings of a policy as things stand, at most `count`: none while it is paused for good or
 * disabled; those after a freeze, or after a pause that ends by itself.
 */
export function firingsAhead(
  policy: Pick<Policy, 'name' | 'schedule'>,
  state: PolicyState | undefined,
  now: number,
  count: number,
): NextFiring[] {
  const pause = pauseAt(state, now);
  if (pause && pause.until === undefined) return [];
  const ends = [pause?.until, freezeAt(state ?? {}, now)?.until].flatMap((until) => until ?? []);
  return nextFirings(policy, ends.length === 0 ? now : Math.max(...ends) - 1, count);
}

/** When a policy fires next as things stand, in milliseconds since 1970, jitter included. */
export const nextFiringAt = (
  policy: Pick<Policy, 'name' | 'schedule'>,
  state: PolicyState | undefined,
  now: number,
): number | undefined => firingsAhead(policy, state, now, 1)[0]?.at;

/** Since when and by whom a policy is paused, and until when; null what was not said. */
export const pauseReport = ({ at, by, reason, until }: Pause) => ({
  at: isoTime(at),
  by,
  reason: reason ?? null,
  until: until === undefined ? null : isoTime(until),
});

/** Which broken file a policy is kept of, since when, and of when the version active is. */
export const keptReport = ({ file, mistake, brokenSince, readAt }: KeptPolicy) => ({
  file,
  mistake,
  broken_since: isoTime(brokenSince),
  read_at: isoTime(readAt),
});

/** A policy with what is remembered of it. */
export const toPolicyReport = (
  policy: Policy,
  state: PolicyState,
  last: Run | undefined,
  now: number,
  kept?: KeptPolicy,
): PolicyReport => {
  const next = nextFiringAt(policy, state, now);
  const pause = pauseAt(state, now);
  return {
    name: policy.name,
    description: policy.description ?? null,
    job: policy.job,
    account: policy.account,
    cron: policy.schedule?.cron ?? [],
    timezone: policy.schedule?.timezone ?? null,
    enabled: policy.schedule ? !policy.schedule.disabled : null,
    next: next === undefined ? null : isoTime(next),
    paused: pause ? pauseReport(pause) : null,
    last_run: last ? { run: last.id, status: last.status } : null,
    kept: kept ? keptReport(kept) : null,
  };
};
