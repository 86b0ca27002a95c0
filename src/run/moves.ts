/** The allowed moves between run statuses, and the final status that follows from the outcomes. */

import type { Reason, Reasons } from './reasons.ts';
import { isIncomplete } from './remarks.ts';
import {
  type Counts,
  type Outcome,
  type Run,
  type RunStatus,
  runStatuses,
  type Target,
  type TargetIn,
  type TargetState,
} from './run.ts';

const moves = {
  queued: ['planning', 'skipped', 'cancelled', 'failed'],
  planning: ['awaiting-approval', 'running', 'succeeded', 'blocked', 'stopped', 'failed', 'cancelled'],
  'awaiting-approval': ['running', 'succeeded', 'partial', 'failed', 'stopped', 'cancelled'],
  running: ['awaiting-approval', 'succeeded', 'partial', 'failed', 'blocked', 'stopped', 'cancelled'],
  blocked: ['planning', 'running', 'partial', 'failed', 'stopped', 'cancelled', 'succeeded'],
  succeeded: [],
  partial: [],
  failed: [],
  cancelled: [],
  skipped: [],
  stopped: [],
} as const satisfies Record<RunStatus, readonly RunStatus[]>;

/** Whether a run may go from one status to another. */
export const canMove = (from: RunStatus, to: RunStatus): boolean =>
  (moves[from] as readonly RunStatus[]).includes(to);

/** The statuses from which `to` can be reached: what a store checks before it applies a move. */
export const sourcesOf = (to: RunStatus): RunStatus[] =>
  (Object.keys(moves) as RunStatus[]).filter((from) => canMove(from, to));

/** Whether a status is final: nothing more happens in the run. */
export const isFinal = (status: RunStatus): boolean => moves[status].length === 0;

/** How many targets have their outcome. */
export const endedCount = ({ succeeded, failed, skipped, cancelled }: Counts): number =>
  succeeded + failed + skipped + cancelled;

/**
 * The final status of a run whose every target has an outcome.
 *
 * Skipped targets do not count as failures. Without a failed target the run is `succeeded`; with failed and
 * no succeeded targets it is `failed`. A run on a list that is known to be incomplete is `partial` at best.
 */
export function finalStatus(run: Pick<Run, 'ending' | 'counts' | 'remarks'>): RunStatus {
  const { ending, counts } = run;
  if (ending === 'cancelled' || ending === 'not-approved') return 'cancelled';
  if (ending === 'safety-limit' || ending === 'gate-closed') return 'stopped';
  // What is left is for the next run.
  if (ending === 'window-over' && counts.cancelled > 0)
    return counts.succeeded + counts.failed > 0 ? 'partial' : 'stopped';
  // Every target that would have been worked on was rejected.
  if (counts.cancelled > 0 && counts.succeeded + counts.failed === 0) return 'cancelled';
  if (counts.failed === 0) return isIncomplete(run) ? 'partial' : 'succeeded';
  return counts.succeeded === 0 ? 'failed' : 'partial';
}

/**
 * Found is not failed: a check that finds something did its work. Its targets have the outcome `failed`, so that
 * a person is told, and a reason that says so (`found` of `ReasonInfo`).
 */

/** The outcomes as people see them. */
export const shownOutcomes = ['succeeded', 'found', 'failed', 'skipped', 'cancelled'] as const;
export type ShownOutcome = (typeof shownOutcomes)[number];

export const shownOutcome = (reasons: Reasons, outcome: Outcome, reason: Reason | undefined): ShownOutcome =>
  outcome === 'failed' && reason && reasons.get(reason)?.found ? 'found' : outcome;

export const shownCounts = ({ found = 0, ...counts }: Counts): Record<ShownOutcome, number> => ({
  succeeded: counts.succeeded,
  found,
  failed: counts.failed - found,
  skipped: counts.skipped,
  cancelled: counts.cancelled,
});

/** The statuses as people see them. */
export const shownStatuses = [...runStatuses, 'found'] as const;
export type ShownStatus = (typeof shownStatuses)[number];

/** `found` when nothing failed but that something was found. */
export const shownStatus = ({ status, counts }: Pick<Run, 'status' | 'counts'>): ShownStatus =>
  (status === 'failed' || status === 'partial') &&
  counts.found !== undefined &&
  counts.found === counts.failed
    ? 'found'
    : status;

export const isIn = <State extends TargetState>(
  target: Target,
  state: State,
): target is Target & TargetIn<State> => target.state === state;
