/** Ends a run at once: every open target gets the outcome that is known now. */
import type { Run } from '../../run/run.ts';
import type { EngineDeps } from '../deps.ts';
import { finishIfDone } from '../finish-run.ts';
import { carryOutEnding } from './cancel.ts';
import { endOpen } from './end-open.ts';

/**
 * Ends a run at once, also while workers act on it. Each open target gets its outcome, and after that no
 * worker can send or write anything for it. Work in the service continues there and is not followed.
 */
export async function forceEndRun(deps: EngineDeps, run: Run, detail: string): Promise<void> {
  await deps.records.runs.end(run, 'cancelled', detail);
  const cancelled = (await deps.records.runs.get(run.id)) ?? run;
  await carryOutEnding(deps, cancelled);
  await endOpen(deps, cancelled, () => true);
  await finishIfDone(deps, run.id);
  await deps.queues.drop(run.id);
}
