/**
 * The upcoming runs of policies as JSON: the objects of `next --json` and of `GET /api/v1/schedule`, with the runs that
 * follow them.
 */
import { isoTime } from '../clock.ts';
import { type ChainNode, chainsOf } from '../policy/chains.ts';
import type { Policy } from '../policy/policy.ts';
import type { PolicyState } from '../records/policy-store.ts';
import { type UpcomingFiring, upcomingFirings } from './predicted-runs.ts';
import { type SkipCause, skipCauseOf } from './skip-cause.ts';
import { wallTime } from './wall-time.ts';

export interface UpcomingReport {
  policy: string;
  job: string;
  /** The policy that it follows: then it is not known when it starts, only that it is not before. */
  after?: string;
  not_before?: string;
  scheduled_for: string | null;
  fires_at: string | null;
  moved_from: string[];
  timezone: string;
  /** In the time zone of the policy. */
  wall_time: string | null;
  skipped: { why: SkipCause['why']; note: string | null } | null;
  /** How many runs of its chain come before it. */
  depth: number;
}

export interface UpcomingRuns {
  /** In the order of time. */
  runs: UpcomingReport[];
  /** The policies that have more runs than the limit. */
  more: string[];
}

type Row = UpcomingFiring & { policy: Policy; after?: string; depth: number };
type States = ReadonlyMap<string, PolicyState> | undefined;

/**
 * The upcoming runs of the policies that are wanted, at most `limit` of each, before `until`. `policies` are all: a
 * policy may follow one that is not wanted. Costs no request.
 */
export function upcomingRuns(
  policies: readonly Policy[],
  states: States,
  { isWanted, ...span }: { now: number; until: number; limit: number; isWanted: (policy: Policy) => boolean },
): UpcomingRuns {
  const found = chainsOf(policies).map((chain) => {
    const { rows, more } = upcoming(chain, states, span);
    const shown = rows.filter(({ policy }) => isWanted(policy));
    return { rows: shown, more: more && shown.length > 0 ? [chain.policy.name] : [] };
  });
  const rows = found.flatMap((one) => one.rows).sort((a, b) => a.at - b.at);
  return { runs: rows.map(toUpcomingReport), more: found.flatMap(({ more }) => more) };
}

/** The firings of the first policy of a chain, each with the runs that follow it. */
function upcoming(
  chain: ChainNode<Policy>,
  states: States,
  { now, until, limit }: { now: number; until: number; limit: number },
): { rows: Row[]; more: boolean } {
  const { policy } = chain;
  const span = { from: now, until, limit: limit + 1 };
  const firings = upcomingFirings(policy, states?.get(policy.name) ?? { failures: 0 }, span);
  const rows = firings.slice(0, limit).flatMap((firing): Row[] => [
    { ...firing, policy, depth: 0 },
    // What is skipped has no end that another policy could follow.
    ...(firing.skipCause ? [] : following(chain, states, firing.at, 1)),
  ]);
  return { rows, more: firings.length > limit };
}

function following(
  { policy, followers }: ChainNode<Policy>,
  states: States,
  at: number,
  depth: number,
): Row[] {
  return followers.flatMap((next): Row[] => {
    const { name, schedule } = next.policy;
    const skipCause =
      schedule && skipCauseOf(schedule, states?.get(name) ?? {}, { scheduledFor: at, dueAt: at });
    return [
      {
        policy: next.policy,
        scheduledFor: at,
        at,
        after: policy.name,
        depth,
        ...(skipCause ? { skipCause } : {}),
      },
      ...(skipCause ? [] : following(next, states, at, depth + 1)),
    ];
  });
}

function toUpcomingReport({
  policy,
  scheduledFor,
  at,
  after,
  depth,
  skipCause,
  movedFrom = [],
}: Row): UpcomingReport {
  const timezone = policy.schedule?.timezone ?? 'UTC';
  return {
    policy: policy.name,
    job: policy.job,
    ...(after === undefined ? {} : { after, not_before: isoTime(at) }),
    scheduled_for: after === undefined ? isoTime(scheduledFor) : null,
    fires_at: after === undefined ? isoTime(at) : null,
    moved_from: movedFrom.map(isoTime),
    timezone,
    wall_time: after === undefined ? wallTime(at, timezone) : null,
    skipped: skipCause ? { why: skipCause.why, note: skipCause.note ?? null } : null,
    depth,
  };
}
