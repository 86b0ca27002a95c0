/**
 * The morning question: what ran in the last 24 hours, what failed and why, and what was skipped. Answered
 * from the totals that are kept while runs end, so that it is complete at any number of runs; to them come
 * the runs that are under way.
 */
import type { ReasonCount } from '../../records/reason-count.ts';
import type { Total, Totals } from '../../records/totals-store.ts';
import type { Reason } from '../../run/reasons.ts';
import { type Outcome, type Run, type RunStatus, runStatuses } from '../../run/run.ts';
import type { Reader } from './reader.ts';

const DAY_MS = 86_400_000;
/** Of so many troubles the latest run is read; of the others only the counts are shown. */
const MAX_READ = 10;

/** What several runs of a policy have in common, those under way included. */
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

/** Runs of a policy that did not go through as a whole. */
export interface Trouble extends OfPolicy {
  status: RunStatus;
  /** The latest of them, where it was read and is still kept. */
  run?: Run;
}

export interface Day {
  /** The full hour that is counted from. */
  since: number;
  /** How many runs ended, or are under way, in each status. */
  statuses: { status: RunStatus; count: number }[];
  /** The runs that have not ended, oldest first. */
  active: Run[];
  /** Targets that succeeded. */
  succeeded: number;
  /** What failed, most frequent first. */
  failed: Group[];
  /** What was skipped or cancelled, most frequent first. */
  leftUndone: Group[];
  /** Runs that failed, were stopped, blocked, cancelled or skipped, in this order. */
  troubled: Trouble[];
}

/** Of skipped targets, those with these reasons lack nothing: there was nothing to do. */
const nothingToDo: readonly Reason[] = ['already-done', 'gone'];
/** What keeps a run from going through, the worst first. */
const troubles: readonly RunStatus[] = ['failed', 'stopped', 'blocked', 'cancelled', 'skipped'];

/**
 * Reads the totals of the last day and the runs under way; no target, and of the runs that ended only those
 * it shows.
 */
export async function readLastDay(reader: Reader, now: number): Promise<Day> {
  const ended = await reader.totals(now - DAY_MS, now);
  const active = (await reader.runsOf(ended.active)).sort((a, b) => a.createdAt - b.createdAt);
  const { runs, targets } = withActive(ended, active, await reader.reasons(active.map(({ id }) => id)));
  const groups = groupsOf(targets);
  const troubled = troubles.flatMap((status) =>
    runs.filter((one) => one.status === status).sort((a, b) => b.count - a.count),
  );
  return {
    since: ended.since,
    statuses: runStatuses.flatMap((status) => {
      const count = sum(runs.filter((one) => one.status === status));
      return count === 0 ? [] : { status, count };
    }),
    active,
    succeeded: sum(targets.filter(({ outcome }) => outcome === 'succeeded')),
    failed: groups.filter(({ outcome }) => outcome === 'failed'),
    leftUndone: groups.filter(
      ({ outcome, reason }) =>
        (outcome === 'skipped' || outcome === 'cancelled') && !nothingToDo.includes(reason),
    ),
    troubled: await withLatest(reader, troubled),
  };
}

const sum = (totals: readonly { count: number }[]): number =>
  totals.reduce((all, { count }) => all + count, 0);

type RunTotal = OfPolicy & { status: RunStatus };
type TargetTotal = OfPolicy & { outcome: Outcome; reason: Reason };

/** The totals of what has ended, and what the runs under way have come to so far. */
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
    runs: together([...ended.runs, ...runs], ({ status, policy }) => `${status} ${policy}`),
    targets: together(
      [...ended.targets, ...targets],
      ({ outcome, reason, policy }) => `${outcome} ${reason} ${policy}`,
    ),
  };
}

/** Adds up what has the same name; the last one has the latest run. What succeeded has no policy. */
function together<T extends Total & { policy?: string }>(
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

async function withLatest(reader: Reader, troubled: readonly RunTotal[]): Promise<Trouble[]> {
  const latest = await reader.runsOf(troubled.slice(0, MAX_READ).map(({ latest: id }) => id));
  return troubled.map((trouble) => {
    const run = latest.find(({ id }) => id === trouble.latest);
    return run ? { ...trouble, run } : trouble;
  });
}
