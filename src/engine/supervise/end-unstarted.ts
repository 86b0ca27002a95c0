/** Gives an outcome to everything of a run that has not begun, a page at a time. */
import type { Run, Target } from '../../run/run.ts';
import { calledOff } from '../act/decide.ts';
import type { Parts } from '../deps.ts';

const PAGE = 200;

/**
 * Ends what is pending, and what waits without an open intent, in a run that was called off. What is in flight, what
 * must first find out about an effect, and what has a task to cancel goes on to its end.
 */
export async function drain(parts: Parts, run: Run): Promise<void> {
  const { ending } = run;
  if (!ending) return;
  const { clock, records } = parts;
  await endPending(parts, run, (target) => calledOff(target, ending, clock.now()));
  for (const target of await records.targets.inState(run.id, 'waiting', PAGE)) {
    if (target.intent || target.callOff) continue;
    await settle(parts, run, calledOff(target, ending, clock.now()));
  }
}

/** Makes those due that must still find out about an effect, so that a run that was called off ends soon. */
export async function hurry(parts: Parts, run: Run): Promise<void> {
  for (const target of await parts.records.targets.inState(run.id, 'waiting', PAGE)) {
    if (target.intent) await settle(parts, run, target);
  }
}

/** Ends everything that nobody has begun, with the outcome that `conclude` gives it. */
export async function endPending(
  parts: Parts,
  run: Run,
  conclude: (target: Target) => Target,
): Promise<void> {
  for (;;) {
    const page = await parts.records.targets.pending(run.id, PAGE);
    if (page.length === 0) return;
    const moved = await Promise.all(page.map((target) => settle(parts, run, conclude(target))));
    // Nothing moved: others are at work on the same targets, and what is left is theirs.
    if (!moved.some(Boolean)) return;
  }
}

function settle(parts: Parts, run: Run, target: Target): Promise<boolean> {
  const at = parts.clock.now();
  return parts.records.targets.settle(run, target, {
    from: ['pending', 'waiting'],
    dueAt: at,
    at,
  });
}
