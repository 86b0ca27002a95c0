/** Gives an outcome to every target of a run that has not started, page by page. */
import type { Run, Target } from '../../run/run.ts';
import { cancelled, ended } from '../act/decide.ts';
import type { EngineDeps } from '../deps.ts';

// The outcome of targets that people rejected.

/**
 * Ends the targets that a decision has rejected (`not-approved`). They were taken out of their batches with the
 * decision. Safe to repeat; the supervisor does, for a process that died after the decision.
 */
export async function endRejected({ records, clock }: EngineDeps, run: Run): Promise<void> {
  for await (const rejected of records.batches.rejected(run.id)) {
    const targets = await records.targets.many(run.id, [...rejected.keys()]);
    const ends = targets.map((target) => {
      const end = ended(target, 'cancelled', 'not-approved', rejected.get(target.id), clock.now());
      return records.targets.move(run, end, { from: ['pending'], at: clock.now() });
    });
    await Promise.all(ends);
  }
}

const PAGE = 200;

/**
 * Ends the pending targets of a cancelled run, and the waiting ones without an open intent. Targets in
 * flight, targets with an effect to reconcile and targets with a task to cancel continue to their end.
 */
export async function endUnstarted(deps: EngineDeps, run: Run): Promise<void> {
  const { ending } = run;
  if (!ending) return;
  const { clock, records } = deps;
  await endPending(deps, run, (target) => cancelled(target, ending, clock.now()));
  // Many targets may wait for a place of their client or tag.
  for (let moved = true; moved; ) {
    const waiting = await records.targets.inState(run.id, 'waiting', PAGE);
    const unstarted = waiting.filter(({ intent, taskCancel }) => !intent && !taskCancel);
    const ends = unstarted.map((target) => transition(deps, run, cancelled(target, ending, clock.now())));
    moved = waiting.length === PAGE && (await Promise.all(ends)).some(Boolean);
    await Promise.all(ends);
  }
}

/** Makes targets due that still have an effect to reconcile, so that a cancelled run ends soon. */
export async function expedite(deps: EngineDeps, run: Run): Promise<void> {
  for (const target of await deps.records.targets.inState(run.id, 'waiting', PAGE)) {
    if (target.intent) await transition(deps, run, target);
  }
}

/** Ends every target that has not started, with the outcome that `conclude` gives it; rejected ones as rejected. */
export async function endPending(
  deps: EngineDeps,
  run: Run,
  conclude: (target: Target) => Target,
): Promise<void> {
  if (run.rollout) await endRejected(deps, run);
  for (;;) {
    const page = await deps.records.targets.pending(run.id, PAGE);
    // First those that are next; then those of batches that have not begun.
    const unstarted = page.length > 0 ? page : await deps.records.batches.later(run.id, PAGE);
    const moved = await Promise.all(unstarted.map((target) => transition(deps, run, conclude(target))));
    // Nothing moved: no target is left, or another process is ending the same targets.
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
