/** Ending a run without waiting for anything: what is open gets its outcome as far as one can tell, now. */
import type { Run } from '../../run/run.ts';
import type { EngineDeps } from '../deps.ts';
import { finishIfDone } from '../finish-run.ts';
import { carryOutEnding } from './cancel.ts';
import { endOpen } from './end-open.ts';

/**
 * Ends a run at once, whoever is at work on it: each open target gets its outcome, and with that nobody can
 * send or write anything for it any more. What is under way in the service goes on there, and nobody learns
 * what becomes of it.
 */
export async function forceEndRun(deps: EngineDeps, run: Run, detail: string): Promise<void> {
  await deps.records.runs.end(run, 'cancelled', detail);
  const called = (await deps.records.runs.get(run.id)) ?? run;
  await carryOutEnding(deps, called);
  await endOpen(deps, called, () => true);
  await finishIfDone(deps, run.id);
  await deps.queues.drop(run.id);
}
