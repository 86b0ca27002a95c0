/** What a run of a policy costs, for forecasts. */

import type { EngineDeps } from '../engine/deps.ts';
import { costOf, estimatePlan } from '../engine/plan/cost.ts';
import type { Policy } from '../policy/policy.ts';
import { jobOf } from '../policy/policy-job.ts';
import type { Records } from '../records/records.ts';
import type { UsualCost } from '../schedule/predicted-runs.ts';

export interface RunCost {
  /** Undefined when there is no estimate. */
  requests?: number;
  /** The source of that number. */
  from: 'past runs' | 'estimate' | 'nothing';
  ms: number;
}

const notKnown: RunCost = { from: 'nothing', ms: 0 };

/**
 * What is known without a request: by past runs, or by the estimate that a person made within a day. Pages, commands and
 * messages all ask this.
 */
export async function knownRunCost(
  records: { previews: Pick<Records['previews'], 'estimateOf'> },
  policy: Policy,
  past: UsualCost | undefined,
): Promise<RunCost> {
  if (past) return { requests: past.requests, from: 'past runs', ms: past.ms };
  const requests = await records.previews.estimateOf(policy);
  return requests === undefined ? notKnown : { requests, from: 'estimate', ms: 0 };
}

/**
 * Estimates a run by the number of its candidates, for `knownRunCost`. Usually costs one request.
 *
 * @throws the client's errors, and {UnknownNameError}.
 */
export async function estimateRunCost(
  deps: Pick<EngineDeps, 'records' | 'registry' | 'link'>,
  policy: Policy,
): Promise<void> {
  const job = jobOf(deps.registry, policy);
  if (!job) return;
  const { targets, planning } = await estimatePlan(deps, policy);
  const { acting, following } = costOf(job, policy, targets, undefined);
  await deps.records.previews.keepEstimate(policy, planning + acting + following);
}
