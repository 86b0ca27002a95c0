/** What a run does first when its plan is stored: it works, begins its first batch, or waits for an approval. */
import type { AnyJob } from '../../job/job.ts';
import type { Policy } from '../../policy/policy.ts';
import type { RunStep } from '../../records/batch-store.ts';
import type { Run } from '../../run/run.ts';
import type { EngineDeps } from '../deps.ts';
import { checksBetween, costOf, pastCost } from '../plan/cost.ts';
import { planHashOf } from '../plan/recheck-run.ts';
import { approvalWanted, hashFrom, placeTargets } from './place.ts';

interface FirstStep {
  to: 'running' | 'awaiting-approval';
  step?: RunStep;
  /** The run with its counts, when it waits for an approval. */
  run?: Run;
}

/**
 * Puts the targets into batches where the policy has a `rollout`, or the run needs an approval: then none of them can
 * be dispatched before a batch begins. Undefined when another attempt at planning has begun.
 */
export async function firstStep(
  deps: EngineDeps,
  { id }: Run,
  planFence: number,
  { policy, job }: { policy: Policy; job: AnyJob },
  targets: number,
): Promise<FirstStep | undefined> {
  const { records, clock } = deps;
  const wanted = approvalWanted(policy, job, targets);
  if (targets === 0 || (!wanted && !policy.rollout)) return { to: 'running' };
  // With the names that were looked up.
  const run = await records.runs.get(id);
  const batches = run && (await placeTargets(records, id, planFence, policy, targets));
  if (!batches) return undefined;
  const step: RunStep = { from: run.step ?? 0, rollout: { is: 'ready', batches } };
  if (!wanted || !policy.approval) return { to: 'running', step };
  const { expiresMs, eachBatch } = policy.approval;
  const past = await pastCost(deps, policy);
  const { acting, following } = costOf(job, policy, targets, past);
  const checks = past?.perTarget ? 0 : checksBetween(policy, batches, run.plan?.requests ?? 1);
  const since = clock.now();
  const approval = {
    hash: hashFrom(await planHashOf(deps, run), 1),
    since,
    expires: since + expiresMs,
    ...wanted,
    requests: acting + following + checks,
    from: 1,
    to: eachBatch ? 1 : batches.length,
  };
  return { to: 'awaiting-approval', step: { ...step, approvals: [approval] }, run };
}
