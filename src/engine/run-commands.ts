/** The commands on a run by its id: cancel, force-end, retry, nudge and release. */
import { CaretakerError } from '../errors.ts';
import { jobOf } from '../policy/policy-job.ts';
import { isFinal } from '../run/moves.ts';
import type { Reason } from '../run/reasons.ts';
import type { Run, Target } from '../run/run.ts';
import { type EngineDeps, policyOf } from './deps.ts';
import { NoRunError } from './errors.ts';
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

/** Which targets of a run to retry; see `targetsOf`. */
export interface Retried {
  /** Reasons; `all`: every target that failed. */
  reasons?: readonly string[];
  targets?: readonly string[];
}

export interface RetryOptions extends Pick<Firing, 'ignoreFreeze' | 'startedBy' | 'act' | 'requestedAt'> {
  which?: Retried;
}

export async function retryById(
  deps: EngineDeps,
  runId: string,
  { which = {}, ...options }: RetryOptions = {},
): Promise<Run> {
  const run = await existingRun(deps, runId);
  if (!isFinal(run.status)) throw new RunError(`The run ${runId} has not ended yet: ${run.status}.`);
  const failed = await targetsOf(deps, runId, which);
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

/**
 * The targets that failed or were cancelled, with these reasons, and among these targets. Without either: those that
 * failed for a reason for which a retry may help without any other change.
 *
 * @throws {RunError} when there is none: it says which there are.
 */
async function targetsOf(
  { records, registry }: EngineDeps,
  runId: string,
  { reasons, targets }: Retried,
): Promise<string[]> {
  const helps = (reason: Reason) => registry.reasons.get(reason)?.retryable === true;
  const isWanted = ({ id, outcome, reason = 'internal' }: Target) =>
    (targets?.includes(id) ?? true) &&
    (reasons
      ? reasons.includes(reason) || (outcome === 'failed' && reasons.includes('all'))
      : outcome === 'failed' && (targets !== undefined || helps(reason)));
  const [wanted, others] = [[] as string[], new Map<string, number>()];
  const unseen = new Set(targets);
  for await (const target of records.targets.all(runId)) {
    const { id, outcome, reason = 'internal' } = target;
    unseen.delete(id);
    if (outcome !== 'failed' && outcome !== 'cancelled') continue;
    if (isWanted(target)) wanted.push(id);
    else others.set(reason, (others.get(reason) ?? 0) + 1);
  }
  const [stranger] = unseen;
  if (stranger !== undefined) throw new RunError(`The run ${runId} has no target ${stranger}.`);
  if (wanted.length > 0) return wanted;
  if (others.size === 0) throw new RunError(`Nothing failed in the run ${runId}: there is nothing to retry.`);
  const left = [...others].map(([reason, count]) => `${count} ${reason}`).join(', ');
  throw new RunError(
    reasons || targets
      ? `No target of the run ${runId} that failed or was cancelled is meant; there are ${left}.`
      : `A retry of the run ${runId} helps none of its targets unless their cause is fixed: ${left}. When it is, say which: caretaker runs retry ${runId} --with-reason ${[...others.keys()][0]}`,
  );
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
