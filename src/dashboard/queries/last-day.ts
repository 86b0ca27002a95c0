/**
 * What ran in the last 24 hours, what failed and why, and what was skipped. It is read from totals that are
 * updated while runs end, so that it is complete for any number of runs; active runs are added.
 */

import { DAY_MS, HOUR_MS } from '../../dates.ts';
import type { Total, Totals } from '../../records/end-store.ts';
import type { ReasonCount } from '../../records/target-types.ts';
import { type ShownOutcome, type ShownStatus, shownOutcome, shownStatuses } from '../../run/moves.ts';
import type { Reason, Reasons } from '../../run/reasons.ts';
import type { Outcome, Run } from '../../run/run.ts';
import type { Reader } from './reader.ts';

/** The sum over several runs of a policy, active ones included. */
export interface OfPolicy extends Total {
  policy: string;
}

/** Targets that ended in the same way for the same reason. */
export interface Group {
  outcome: Outcome;
  reason: Reason;
  count: number;
  /** Most frequent first. */
  policies: OfPolicy[];
}

/** Unsuccessful runs of a policy with the same status. */
export interface UnsuccessfulRuns extends OfPolicy {
  status: ShownStatus;
}

/** The targets of the runs that ended in an hour, by outcome. */
export interface Hour {
  at: number;
  counts: Record<ShownOutcome, number>;
}

export interface Day {
  /** The full hour at which counting begins. */
  since: number;
  /** How many runs ended, or are active, in each status. */
  statuses: { status: ShownStatus; count: number }[];
  /** The runs that have not ended, oldest first. */
  active: Run[];
  /** Targets by outcome: the sum of all hours. */
  counts: Record<ShownOutcome, number>;
  /** What failed or was found, most frequent first. */
  failed: Group[];
  /** What was skipped or cancelled, most frequent first. */
  skipped: Group[];
  /** Runs that failed, were stopped, blocked, cancelled or skipped, in this order. */
  unsuccessful: UnsuccessfulRuns[];
  /** Each hour since `since`; the last one includes the targets of active runs. */
  hours: Hour[];
}

/** The statuses of unsuccessful runs, the worst first. */
const unsuccessfulStatuses: readonly ShownStatus[] = ['failed', 'stopped', 'blocked', 'cancelled', 'skipped'];

/** Reads the totals of the last day and the active runs; no target, and of the ended runs only those shown. */
export async function readLastDay(reader: Reader, known: Reasons, now: number): Promise<Day> {
  const ended = await reader.totals(now - DAY_MS, now);
  const active = (await reader.runsOf(ended.active)).sort((a, b) => a.createdAt - b.createdAt);
  const reasons = await reader.reasons(active.map(({ id }) => id));
  const { runs, targets } = withActive(ended, active, reasons);
  const groups = groupsOf(targets);
  const unsuccessful = unsuccessfulStatuses.flatMap((status) =>
    runs.filter((one) => one.status === status).sort((a, b) => b.count - a.count),
  );
  return {
    since: ended.since,
    statuses: shownStatuses.flatMap((status) => {
      const count = sum(runs.filter((one) => one.status === status));
      return count === 0 ? [] : { status, count };
    }),
    active,
    counts: countsOf(targets, known),
    failed: groups.filter(({ outcome }) => outcome === 'failed'),
    skipped: groups.filter(({ outcome }) => outcome === 'skipped' || outcome === 'cancelled'),
    unsuccessful,
    hours: hoursOf(ended, reasons, known, now),
  };
}

/** Every hour, those without any target included. */
function hoursOf(
  { since, hours }: Totals,
  active: ReadonlyMap<string, readonly ReasonCount[]>,
  known: Reasons,
  now: number,
): Hour[] {
  const last = Math.floor(now / HOUR_MS) * HOUR_MS;
  const ends = [...hours, ...[...active.values()].flat().map((one) => ({ ...one, hour: last }))];
  return Array.from({ length: Math.max(0, (last - since) / HOUR_MS + 1) }, (_, index) => {
    const at = since + index * HOUR_MS;
    return {
      at,
      counts: countsOf(
        ends.filter(({ hour }) => hour === at),
        known,
      ),
    };
  });
}

function countsOf(ends: readonly ReasonCount[], known: Reasons): Record<ShownOutcome, number> {
  const counts = { succeeded: 0, found: 0, failed: 0, skipped: 0, cancelled: 0 };
  for (const { outcome, reason, count } of ends) counts[shownOutcome(known, outcome, reason)] += count;
  return counts;
}

const sum = (totals: readonly { count: number }[]): number =>
  totals.reduce((all, { count }) => all + count, 0);

type RunTotal = OfPolicy & { status: ShownStatus };
type TargetTotal = OfPolicy & { outcome: Outcome; reason: Reason };

/** The totals of ended runs, plus the active runs as they are now. */
function withActive(
  ended: Totals,
  active: readonly Run[],
  reasons: ReadonlyMap<string, ReasonCount[]>,
): { runs: RunTotal[]; targets: TargetTotal[] } {
  const runs = active.map(({ id, status, policy }) => ({ status, policy, count: 1, runs: 1, latest: id }));
  const targets = active.flatMap(({ id, policy }) =>
    (reasons.get(id) ?? []).map((one) => ({ ...one, policy, runs: 1, latest: id })),
  );
  return {
    runs: addUp([...ended.runs, ...runs], ({ status, policy }) => `${status} ${policy}`),
    targets: addUp(
      [...ended.targets, ...targets],
      ({ outcome, reason, policy }) => `${outcome} ${reason} ${policy}`,
    ),
  };
}

/** Adds up totals with the same name; the last one has the latest run. */
function addUp<T extends Total & { policy?: string }>(
  totals: readonly T[],
  nameOf: (total: T) => string,
): (T & { policy: string })[] {
  const found = new Map<string, T & { policy: string }>();
  for (const one of totals) {
    const { policy = '' } = one;
    const before = found.get(nameOf(one)) ?? { count: 0, runs: 0 };
    found.set(nameOf(one), {
      ...one,
      policy,
      count: before.count + one.count,
      runs: before.runs + one.runs,
    });
  }
  return [...found.values()];
}

function groupsOf(targets: readonly TargetTotal[]): Group[] {
  const groups = new Map<string, Group>();
  for (const { outcome, reason, ...ofPolicy } of targets) {
    const name = `${outcome} ${reason}`;
    const group = groups.get(name) ?? { outcome, reason, count: 0, policies: [] };
    group.count += ofPolicy.count;
    group.policies.push(ofPolicy);
    groups.set(name, group);
  }
  for (const { policies } of groups.values()) policies.sort((a, b) => b.count - a.count);
  return [...groups.values()].sort((a, b) => b.count - a.count);
}
