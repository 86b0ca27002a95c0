/** The commands on a run by its id: cancel, force-end, retry, nudge and release. */
import { CaretakerError } from '../errors.ts';
import { jobOf } from '../policy/policy-job.ts';
import { isFinal } from '../run/moves.ts';
import { NoRunError } from '../run/no-run-error.ts';
import type { Run } from '../run/run.ts';
import { type EngineDeps, policyOf } from './deps.ts';
import { type Firing, fire } from './fire.ts';
import { type Person, resumeRollout } from './rollout/manual-changes.ts';
import { probeAccount } from './supervise/block.ts';
import { cancelRun, forceEndRun } from './supervise/end-run.ts';

/** The run does not exist (any more), or the command is not possible in its status. */
export class RunError extends CaretakerError {
  readonly code = 'RUN';
}

/** Cancels a run that a newer one replaces. */
export const cancelForNewer = (deps: EngineDeps) => (run: Run) =>
  cancelRun(deps, run, 'A newer run took its place.');

export async function cancelById(
  deps: EngineDeps,
  runId: string,
  { why = 'It was cancelled manually.', ...options }: { tasks?: boolean; why?: string } = {},
): Promise<void> {
  const run = await openRun(deps, runId);
  await cancelRun(deps, run, why, options);
}

export async function forceEndById(deps: EngineDeps, runId: string): Promise<Run> {
  const run = await openRun(deps, runId);
  await forceEndRun(deps, run, 'It was cancelled manually, without waiting for targets in progress.');
  return existingRun(deps, runId);
}

export async function retryById(
  deps: EngineDeps,
  runId: string,
  options: Pick<Firing, 'ignoreFreeze' | 'startedBy' | 'act' | 'requestedAt'> = {},
): Promise<Run> {
  const run = await existingRun(deps, runId);
  if (!isFinal(run.status)) throw new RunError(`The run ${runId} has not ended yet: ${run.status}.`);
  const failed = await failedTargets(deps, runId);
  if (failed.length === 0)
    throw new RunError(`Nothing failed in the run ${runId}: there is nothing to retry.`);
  const firing: Firing = {
    trigger: 'retry',
    // The same time: last month is still the month that the run was about.
    scheduledFor: run.scheduledFor,
    ...(await targetsToRetry(deps, run, failed)),
    retryOf: runId,
    requestedAt: deps.clock.now(),
    ...options,
  };
  return fire(deps, policyOf(run), firing, cancelForNewer(deps));
}

/** Probes the account of a blocked run, or queues the plan of a run without one, at once. */
export async function nudgeById(deps: EngineDeps, runId: string): Promise<void> {
  const run = await openRun(deps, runId);
  if (run.held) return;
  if (run.status === 'blocked') return probeAccount(deps, run.account);
  if (run.planComplete) return;
  await deps.records.runs.clearDetail(runId);
  await deps.queues.put([{ kind: 'plan', run: runId }]);
}

export async function releaseById(deps: EngineDeps, runId: string): Promise<void> {
  const run = await openRun(deps, runId);
  if (!(await deps.records.runs.release(run, deps.clock.now())))
    throw new RunError(`The run ${runId} is not held: there is nothing to release.`);
  deps.log.info({ run: runId }, 'a held run was released');
  if (!run.planComplete) await deps.queues.put([{ kind: 'plan', run: runId }]);
}

/** See `Engine.resume`. */
export async function resumeById(deps: EngineDeps, runId: string, person: Person): Promise<Run> {
  const run = await existingRun(deps, runId);
  // A repetition: the act has passed the gate, and the run has been stopped by a later one since.
  const isDone = run.rollout?.batches.some(({ resumed }) => resumed?.act === person.act);
  if (person.act !== undefined && isDone) return run;
  if (!isFinal(run.status) || run.ending !== 'gate-closed') {
    await resumeRollout(deps, runId, person);
    return existingRun(deps, runId);
  }
  const only: string[] = [];
  for await (const target of deps.records.targets.all(runId))
    if (target.reason === 'gate-closed') only.push(target.id);
  if (only.length === 0) throw new RunError(`Every target of the run ${runId} was started.`);
  const { scheduledFor } = run;
  const { kind, name } = person.by;
  const firing: Firing = {
    trigger: 'retry',
    scheduledFor,
    only,
    retryOf: runId,
    startedBy: { kind, name },
    requestedAt: person.at ?? deps.clock.now(),
    ...(person.act === undefined ? {} : { act: person.act }),
  };
  return fire(deps, policyOf(run), firing, cancelForNewer(deps));
}

async function existingRun({ records }: EngineDeps, runId: string): Promise<Run> {
  const run = await records.runs.get(runId);
  if (!run) throw new NoRunError(runId);
  return run;
}

async function openRun(deps: EngineDeps, runId: string): Promise<Run> {
  const run = await existingRun(deps, runId);
  if (!isFinal(run.status)) return run;
  const more = `"caretaker runs show ${runId}" shows it.`;
  throw new RunError(`The run ${runId} has already ended: ${run.status}. ${more}`);
}

async function failedTargets({ records }: EngineDeps, runId: string): Promise<string[]> {
  const failed: string[] = [];
  for await (const target of records.targets.all(runId))
    if (target.outcome === 'failed') failed.push(target.id);
  return failed;
}

/**
 * The failed targets. Everything that the policy selects, when one of them stands for all targets; but nothing of what a
 * run of single targets was not for.
 *
 * @throws {RunError} when only what stands for all targets failed in a run of single targets: a retry would work on
 *   them whether the policy selects them or not.
 */
async function targetsToRetry(
  { registry, records }: EngineDeps,
  run: Run,
  failed: readonly string[],
): Promise<Pick<Firing, 'only'>> {
  const forAll = jobOf(registry, policyOf(run))?.aggregateIds ?? [];
  if (!failed.some((id) => forAll.includes(id))) return { only: [...failed] };
  const named = await records.runs.only(run.id);
  if (named.length === 0) return {};
  const only = failed.filter((id) => !forAll.includes(id));
  if (only.length > 0) return { only };
  throw new RunError(
    `The run ${run.id} was for single targets, and what all of them need was missing. Start it again: caretaker run ${run.policy} --target ${named.join(' ')}`,
  );
}
