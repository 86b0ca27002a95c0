/** What people who look at the queue read about an entry that acted on a target. Nothing depends on it. */
import { isoTime } from '../../clock.ts';
import type { Report } from '../../queue/entry.ts';
import type { Effect } from '../../records/effect-store.ts';
import type { Run, Spent, Target } from '../../run/run.ts';

/** One step on one target. */
export interface Acted {
  /** The target as it was claimed, and as it was written. */
  before: Target;
  target: Target;
  /** The requests that were sent, by operation. */
  spent: Spent;
  /** What the service reported as changed. */
  effects: readonly Effect[];
  /** For a waiting target: when it may be dispatched again. */
  dueAt?: number | undefined;
}

export const reportNothingDone = (isKnown: boolean): Report => ({
  result: { state: 'not claimed' },
  log: [
    isKnown
      ? 'Nothing was done: the target had been claimed or dispatched again, its run is not running, a target of another run holds its site, or this process does not know its account or job.'
      : 'Nothing was done: the run is not stored any more.',
  ],
});

export function reportAct({ account }: Pick<Run, 'account'>, acted: Acted): Report {
  const { before, target, spent, effects } = acted;
  const requests = Object.values(spent).reduce((sum, count) => sum + count, 0);
  return {
    result: {
      target: target.label,
      account,
      state: target.state,
      outcome: target.outcome,
      reason: target.reason,
      task: target.taskId,
      requests,
    },
    log: [
      `Planned: ${target.label} (${target.id}), account ${account}.`,
      ...waitsOf(before),
      requests === 0
        ? 'Requests: none.'
        : `Requests: ${Object.entries(spent)
            .map(([operation, count]) => (count === 1 ? operation : `${operation} ${count} times`))
            .join(', ')}.`,
      ...effects.map(({ operation, id }) => `Answer: ${operation} changed ${id}.`),
      outcomeOf(acted),
    ],
  };
}

function waitsOf({ detail, attempts, waits }: Target): string[] {
  const failed = attempts === 0 ? [] : [`Failed attempts before: ${attempts}.`];
  if (waits === 0 && detail === undefined) return failed;
  return [...failed, `Waited before${detail === undefined ? '.' : `: ${detail}`}`];
}

function outcomeOf({ target, dueAt }: Acted): string {
  const { state, outcome, reason, detail, taskId } = target;
  const why = detail === undefined ? '' : ` ${detail}`;
  if (state === 'ended') return `Outcome: ${outcome} (${reason}).${why}`;
  if (state === 'following') return `Outcome: open, follows ${taskId ?? 'its work in the service'}.${why}`;
  return `Outcome: open, waits${dueAt === undefined ? '' : ` until ${isoTime(dueAt)}`}.${why}`;
}
