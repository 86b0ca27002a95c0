/** The upcoming runs of policies with the time and the requests that each usually takes; pure. */
import { type ChainNode, chainsOf } from '../policy/chains.ts';
import type { Policy } from '../policy/policy.ts';
import type { PolicyState } from '../records/policy-store.ts';
import { dueAt, nextScheduledTimes, timesMovedHere } from './cron-times.ts';
import { type SkipCause, type SkipFacts, skipCauseOf } from './skip-cause.ts';

// Upcoming firings, including those that will be skipped by the present state.

export interface UpcomingFiring {
  /** The scheduled time that the schedule names. */
  scheduledFor: number;
  /** When it fires: the scheduled time and its jitter. */
  at: number;
  /** The times on days of blackout that were moved to this one (`on_blackout`). */
  movedFrom?: number[];
  /** What keeps it from firing in the present state. */
  skipCause?: SkipCause;
}

/** The firings due after `from` and not after `until`, in their order, at most `limit`. Costs no request. */
export function upcomingFirings(
  { name, schedule }: Pick<Policy, 'name' | 'schedule'>,
  state: SkipFacts,
  { from, until, limit }: { from: number; until: number; limit: number },
): UpcomingFiring[] {
  if (!schedule) return [];
  const times = nextScheduledTimes(schedule, from - schedule.jitterMs - 1, limit + 1, until);
  return times
    .map((scheduledFor, index): UpcomingFiring => {
      const at = dueAt(name, schedule, scheduledFor, times[index + 1]);
      const skipCause = skipCauseOf(schedule, state, { scheduledFor, dueAt: at });
      return { scheduledFor, at, ...(skipCause ? { skipCause } : {}) };
    })
    .filter(({ at }) => at > from && at <= until)
    .slice(0, limit)
    .map((firing) => {
      const movedFrom = timesMovedHere(schedule, firing.scheduledFor);
      return movedFrom.length > 0 ? { ...firing, movedFrom } : firing;
    });
}

/** What a run of a policy usually takes, by its last runs. */
export interface UsualCost {
  ms: number;
  requests: number;
}

export interface PredictedRun {
  policy: Policy;
  /** The scheduled time; for a policy that follows another, that of the first policy of its chain. */
  scheduledFor: number;
  /** When it starts. */
  at: number;
  /** Undefined before a run of the policy has ended: then nothing is known about the next one. */
  cost?: UsualCost;
  /** The policy that it follows. */
  after?: string;
  /** Set when the run before it has no known duration: it does not start before `at`. */
  isEarliest?: true;
  /** Why it will be skipped in the present state. */
  skipCause?: SkipCause;
  /** The times on days of blackout that were moved to this one. */
  movedFrom?: number[];
}

export interface PredictionSpan {
  from: number;
  until: number;
  /** Runs of each policy, at most. */
  limit: number;
}

type States = ReadonlyMap<string, PolicyState>;
type Costs = ReadonlyMap<string, UsualCost>;

/**
 * The runs that start after `from` and not after `until`, in the order of time, those that will be skipped included.
 * A policy that follows another is expected when the usual end of the other starts it. Costs no request.
 */
export function predictedRuns(
  policies: readonly Policy[],
  { states, costs }: { states: States; costs: Costs },
  span: PredictionSpan,
): PredictedRun[] {
  return chainsOf(policies)
    .flatMap((chain) => {
      const { policy } = chain;
      const firings = upcomingFirings(policy, states.get(policy.name) ?? { failures: 0 }, span);
      return firings.flatMap((firing): PredictedRun[] => {
        const run: PredictedRun = { policy, ...firing, ...costIn(costs, policy) };
        return [run, ...followersOf(chain, run, { states, costs })];
      });
    })
    .filter(({ at }) => at <= span.until)
    .sort((a, b) => a.at - b.at);
}

/** The runs that the end of this run starts. What is skipped has no end. */
function followersOf(
  { followers }: ChainNode<Policy>,
  before: PredictedRun,
  known: { states: States; costs: Costs },
): PredictedRun[] {
  if (before.skipCause) return [];
  return followers.flatMap((node): PredictedRun[] => {
    const { policy } = node;
    const { schedule } = policy;
    if (!schedule?.after?.status.includes('succeeded')) return [];
    const at = before.at + (before.cost?.ms ?? 0);
    const skipCause = skipCauseOf(schedule, known.states.get(policy.name) ?? {}, {
      scheduledFor: at,
      dueAt: at,
    });
    const isEarliest = before.isEarliest === true || before.cost === undefined;
    const run: PredictedRun = {
      policy,
      scheduledFor: before.scheduledFor,
      at,
      after: before.policy.name,
      ...(isEarliest ? { isEarliest } : {}),
      ...(skipCause ? { skipCause } : {}),
      ...costIn(known.costs, policy),
    };
    return [run, ...followersOf(node, run, known)];
  });
}

const costIn = (costs: Costs, { name }: Policy): Pick<PredictedRun, 'cost'> => {
  const cost = costs.get(name);
  return cost ? { cost } : {};
};
