/** Gives an outcome to everything of a run that has not begun, a page at a time. */
import type { Run, Target } from '../../run/run.ts';
import { cancelled } from '../act/decide.ts';
import type { EngineDeps } from '../deps.ts';

const PAGE = 200;

/**
 * Ends what is pending, and what waits without an open intent, in a run that was cancelled. What is in
 * flight, what must first find out about an effect, and what has a task to cancel goes on to its end.
 */
export async function endUnstarted(deps: EngineDeps, run: Run): Promise<void> {
  const { ending } = run;
  if (!ending) return;
  const { clock, records } = deps;
  await endPending(deps, run, (target) => cancelled(target, ending, clock.now()));
  for (const target of await records.targets.inState(run.id, 'waiting', PAGE)) {
    if (target.intent || target.taskCancel) continue;
    await transition(deps, run, cancelled(target, ending, clock.now()));
  }
}

/** Makes those due that must still find out about an effect, so that a run that was cancelled ends soon. */
export async function expedite(deps: EngineDeps, run: Run): Promise<void> {
  for (const target of await deps.records.targets.inState(run.id, 'waiting', PAGE)) {
    if (target.intent) await transition(deps, run, target);
  }
}

/** Ends everything that nobody has begun, with the outcome that `conclude` gives it. */
export async function endPending(
  deps: EngineDeps,
  run: Run,
  conclude: (target: Target) => Target,
): Promise<void> {
  for (;;) {
    const page = await deps.records.targets.pending(run.id, PAGE);
    const moved = await Promise.all(page.map((target) => transition(deps, run, conclude(target))));
    // Nothing moved: there is nothing left, or others are at work on the same targets, and what is left is
    // theirs.
    if (!moved.some(Boolean)) return;
  }
}

function transition(deps: EngineDeps, run: Run, target: Target): Promise<boolean> {
  const at = deps.clock.now();
  return deps.records.targets.move(run, target, {
    from: ['pending', 'waiting'],
    dueAt: at,
    at,
  });
}
