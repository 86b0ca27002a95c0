/** The morning question: what ran in the last 24 hours, what failed and why, and what was left undone. */
import type { ReasonCount } from '../../records/target-store.ts';
import type { Reason } from '../../run/reasons.ts';
import type { Outcome, Run } from '../../run/run.ts';
import type { Reader } from './reader.ts';

export const DAY_MS = 86_400_000;
/** Runs looked at, the newest; a day of more is said to be cut. */
const MOST_RUNS = 500;

/** Targets of several runs that ended in the same way for the same reason. */
export interface Group {
  outcome: Outcome;
  reason: Reason;
  count: number;
  runs: { run: Run; count: number }[];
}

export interface Day {
  /** Newest first. */
  runs: Run[];
  /** Whether there were more than are looked at. */
  cut: boolean;
  /** What failed, most frequent first. */
  failed: Group[];
  /** What was skipped or cancelled, most frequent first. */
  leftUndone: Group[];
  /** Runs that did not go through as a whole: failed, stopped, blocked, cancelled or skipped, in this order. */
  troubled: Run[];
  /** By run, how its targets ended. */
  reasons: Map<string, ReasonCount[]>;
}

/** Of skipped targets, those with these reasons lack nothing: there was nothing to do. */
const nothingToDo: readonly Reason[] = ['already-done', 'gone'];
/** What keeps a run from going through, the worst first. */
const troubles: readonly Run['status'][] = ['failed', 'stopped', 'blocked', 'cancelled', 'skipped'];

/** Reads the runs of the last day and how their targets ended, without reading a target. */
export async function readDay(reader: Reader, now: number): Promise<Day> {
  const runs = await reader.runs({ since: now - DAY_MS, limit: MOST_RUNS });
  const reasons = await reader.reasons(runs.map(({ id }) => id));
  const groups = new Map<string, Group>();
  for (const run of runs) {
    for (const { outcome, reason, count } of reasons.get(run.id) ?? []) {
      const name = `${outcome} ${reason}`;
      const group = groups.get(name) ?? { outcome, reason, count: 0, runs: [] };
      group.count += count;
      group.runs.push({ run, count });
      groups.set(name, group);
    }
  }
  const frequent = [...groups.values()].sort((a, b) => b.count - a.count);
  return {
    runs,
    cut: runs.length === MOST_RUNS,
    failed: frequent.filter(({ outcome }) => outcome === 'failed'),
    leftUndone: frequent.filter(
      ({ outcome, reason }) =>
        (outcome === 'skipped' || outcome === 'cancelled') && !nothingToDo.includes(reason),
    ),
    troubled: troubles.flatMap((status) => runs.filter((run) => run.status === status)),
    reasons,
  };
}
