/** The allowed moves between run statuses, and the final status that follows from the outcomes. */
import { isIncomplete } from './remarks.ts';
import type { Counts, Run, RunStatus } from './run.ts';

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
