/**
 * A policy as JSON: the object of `policies --json` and of `GET /api/v1/policies`. The next firing is
 * computed in one place, so that command line and dashboard show the same time.
 */

import { isoTime, isoTimeOrNull } from '../clock.ts';
import { afterAsWritten } from '../policy/as-written.ts';
import type { Labels } from '../policy/labels.ts';
import type { Policy } from '../policy/policy.ts';
import { jobsOf } from '../policy/policy-job.ts';
import { freezeAt } from '../records/freeze-store.ts';
import { type Pause, type PolicyState, pauseAt } from '../records/policy-store.ts';
import type { KeptPolicy } from '../records/presence-store.ts';
import type { Run, RunStatus } from '../run/run.ts';
import { columnsIn } from '../text.ts';
import { type NextFiring, nextFirings } from './next-firings.ts';

export interface PolicyReport {
  name: string;
  description: string | null;
  owner: string | null;
  labels: Labels;
  job: string;
  /** The jobs that it uses: one, or that of each step. */
  jobs: string[];
  account: string;
  cron: string[];
  timezone: string | null;
  /** The policy that it follows, the ends that start it, and how late an end may be noticed; null otherwise. */
  after: { policy: string; status: string[]; within: string } | null;
  /** Whether its schedule makes runs (`schedule.enabled`); null without a schedule. */
  enabled: boolean | null;
  /**
   * When it fires next, with jitter, after a pause that has an end; null when it is paused without an end,
   * disabled, follows another policy, or has no schedule.
   */
  next: string | null;
  paused: ReturnType<typeof pauseReport> | null;
  last_run: { run: string; status: RunStatus; created_at: string } | null;
  /** Set while its file has errors and a daemon keeps the previous version active. */
  kept: ReturnType<typeof keptReport> | null;
}

/** The columns of CSV. */
export const policyColumns = columnsIn(
  'name description job account cron timezone after.policy enabled next paused.by paused.reason paused.until',
  'last_run.run last_run.status kept.error owner labels',
);

/**
 * The next firings of a policy in its present state, at most `count`: none while it is disabled or paused
 * without an end, or after `until`; those after a freeze, or after a pause that has an end.
 */
export function firingsAhead(
  policy: Pick<Policy, 'name' | 'schedule'>,
  state: PolicyState | undefined,
  now: number,
  count: number,
  until?: number,
): NextFiring[] {
  const pause = pauseAt(state, now);
  if (pause && pause.until === undefined) return [];
  const ends = [pause?.until, freezeAt(state ?? {}, now)?.until].flatMap((until) => until ?? []);
  return nextFirings(policy, ends.length === 0 ? now : Math.max(...ends) - 1, count, until);
}

/** When a policy fires next in its present state, in milliseconds since 1970, with jitter. */
export const nextFiringAt = (
  policy: Pick<Policy, 'name' | 'schedule'>,
  state: PolicyState | undefined,
  now: number,
): number | undefined => firingsAhead(policy, state, now, 1)[0]?.at;

/** When and by whom a policy was paused, and until when; null where nothing was given. */
export const pauseReport = ({ at, by, reason, until }: Pause) => ({
  at: isoTime(at),
  by,
  reason: reason ?? null,
  until: isoTimeOrNull(until),
});

/** Which file has errors, since when, and when the active version was read. */
export const keptReport = ({ file, error: mistake, brokenSince, readAt }: KeptPolicy) => ({
  file,
  error: mistake,
  broken_since: isoTime(brokenSince),
  read_at: isoTime(readAt),
});

/** A policy with its stored state. */
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
    owner: policy.owner ?? null,
    labels: policy.labels ?? {},
    job: policy.job,
    jobs: jobsOf(policy),
    account: policy.account,
    cron: policy.schedule?.cron ?? [],
    timezone: policy.schedule?.timezone ?? null,
    after: policy.schedule?.after ? afterAsWritten(policy.schedule.after) : null,
    enabled: policy.schedule ? !policy.schedule.disabled : null,
    next: isoTimeOrNull(next),
    paused: pause ? pauseReport(pause) : null,
    last_run: last ? { run: last.id, status: last.status, created_at: isoTime(last.createdAt) } : null,
    kept: kept ? keptReport(kept) : null,
  };
};
