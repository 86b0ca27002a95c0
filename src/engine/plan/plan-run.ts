/**
 * Makes the plan of a run, then starts the run.
 *
 * When planning is interrupted, the next attempt continues where the last one stopped: see `plan-builder.ts`. When it
 * runs twice at once, only the latest attempt can add to the plan.
 */

import { AccountRefusedError, UnavailableError } from '../../client/errors.ts';
import { IncompleteListError } from '../../client/pages.ts';
import { ContractError } from '../../contract/answers.ts';
import { AccountMovedError } from '../../contract/service-address.ts';
import { CaretakerError, messageOf } from '../../errors.ts';
import { jobOf } from '../../policy/policy-job.ts';
import type { Entry } from '../../queue/entry.ts';
import type { Run } from '../../run/run.ts';
import { type EngineDeps, policyOf, serves } from '../deps.ts';
import { concludeRun } from '../finish-run.ts';
import { decideOverlap } from '../fire.ts';
import { Spending } from '../spending.ts';
import { blockAccount } from '../supervise/block.ts';
import { earlierPlanOf, PlanBuilder } from './plan-builder.ts';
import { planningOf } from './planning-of-run.ts';
import { withIncomplete } from './selection.ts';

const skippedDetail = { detail: 'Another run of the policy was active (schedule.overlap: skip).' };

const nothingSaid = { warnings: [], remarks: [] };

/** How often planning may fail with an unexpected error before the run fails. */
const MAX_UNEXPECTED_FAILURES = 3;

/**
 * Plans a run that is queued and may start, or whose planning was interrupted. Does nothing for any other
 * run. When `stopping` aborts, another process makes the plan later.
 */
export async function planRun(
  deps: EngineDeps,
  entry: Extract<Entry, { kind: 'plan' }>,
  stopping: AbortSignal,
): Promise<void> {
  const { records } = deps;
  const run = await records.runs.get(entry.run);
  if (!run || run.ending || run.held || !serves(deps, run)) return;
  const job = jobOf(deps.registry, policyOf(run));
  // A newer process may know the job and make the plan. The supervisor fails the run when none does.
  if (!job || !(await startPlanning(deps, run))) return;
  const continued = await records.plans.continue(run.id);
  const planFence = continued?.fence ?? (await records.plans.begin(run.id));
  if (planFence === 0) return;
  try {
    const only = await records.runs.only(run.id);
    const spent = new Spending();
    const planning = await planningOf(deps, run, { only, spent, signal: stopping });
    const earlierPlan = continued && planning && (await earlierPlanOf(deps, run, planning, continued));
    if (planning)
      await new PlanBuilder(deps, { ...run, status: 'planning' as const }, planning, spent, {
        fence: planFence,
        continued,
        earlierPlan,
      }).build();
  } catch (error) {
    if (!stopping.aborted) await failed(deps, run, planFence, error);
  }
}

/** Moves a queued run that may start to `planning`. True when the run is to be planned now. */
async function startPlanning(deps: EngineDeps, run: Run): Promise<boolean> {
  const { records, clock } = deps;
  if (run.status === 'planning') return true;
  if (run.status !== 'queued') return false;
  const policy = policyOf(run);
  // Decided again here: two firings at the same time may each have seen no other run.
  const turn = decideOverlap(run, await records.runs.active(run.account, { policy: run.policy }), policy);
  if (turn === 'start') {
    const at = clock.now();
    return records.runs.move(run, 'planning', { at, deadline: at + policy.timeout.runMs });
  }
  if (turn === 'skip') await concludeRun(deps, run, 'skipped', skippedDetail);
  return false;
}

/** Handles an error while planning: planning is retried when that may help, else the run fails. */
async function failed(deps: EngineDeps, run: Run, planFence: number, error: unknown): Promise<void> {
  const { records, log } = deps;
  if (error instanceof AccountRefusedError) return blockAccount(deps, run.account, error);
  // A process with the address that the account's records belong to makes the plan.
  if (error instanceof AccountMovedError) return;
  if (error instanceof UnavailableError) {
    // The service is unavailable. The run keeps its status and shows why; the supervisor retries planning.
    await records.runs.note(run.id, messageOf(error));
    log.warn({ run: run.id }, messageOf(error));
    return;
  }
  const unexpected = !(error instanceof CaretakerError);
  if (unexpected) log.error({ run: run.id, err: error }, 'a plan failed unexpectedly');
  const mayRetry = unexpected || error instanceof ContractError;
  const attempts = unexpected ? MAX_UNEXPECTED_FAILURES : policyOf(run).retry.attempts;
  if (mayRetry && (await records.plans.countFailure(run.id)) < attempts) {
    if (!unexpected) log.warn({ run: run.id }, `planning is retried: ${messageOf(error)}`);
    return records.runs.note(run.id, messageOf(error));
  }
  // So that `doctor` shows it, too.
  if (error instanceof IncompleteListError)
    await records.planned.noteRemarks(run.id, withIncomplete(nothingSaid, [error.incomplete]).remarks);
  await concludeRun(deps, run, 'failed', { detail: `Planning failed: ${messageOf(error)}`, planFence });
}
