/** Calling a run off: nothing new is begun, what is in flight comes to its end, every target gets an outcome. */
import { isFinal } from '../run/moves.ts';
import type { Run } from '../run/run.ts';
import { drain, hurry } from './drain.ts';
import { concludeRun, finishIfDone } from './finish.ts';
import type { Parts } from './parts.ts';

/** Cancels a run that has not ended. The mark comes first: whoever dies in between, the steward carries it out. */
export async function cancelRun(parts: Parts, run: Run, detail: string): Promise<void> {
  await parts.records.runs.end(run, 'cancelled', detail);
  await carryOutEnding(parts, { ...run, ending: 'cancelled' });
  await hurry(parts, run);
}

/** Does what follows from a run's `ending`, as often as it takes. */
export async function carryOutEnding(parts: Parts, run: Run): Promise<void> {
  const { records } = parts;
  if (!run.ending) return;
  if (!run.planComplete) {
    // Whoever is planning it can add nothing any more, and an unfinished plan promises nothing.
    const planStep = await records.targets.beginPlan(run.id);
    const status = run.ending === 'cancelled' ? 'cancelled' : 'stopped';
    if (planStep > 0) {
      await concludeRun(parts, run, status, { planStep });
      return;
    }
    // Its plan was completed meanwhile: targets may be under way.
    const now = await records.runs.get(run.id);
    if (!now || isFinal(now.status)) return;
  }
  await drain(parts, run);
  await finishIfDone(parts, run.id);
}
