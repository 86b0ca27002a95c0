/** What a run of a policy costs, for forecasts. */

import type { EngineDeps } from '../engine/deps.ts';
import { costOf, estimatePlan, pastCost } from '../engine/plan/cost.ts';
import { CaretakerError } from '../errors.ts';
import { jobOf } from '../policy/job-of.ts';
import type { Policy } from '../policy/policy.ts';
import type { UsualCost } from '../schedule/predicted-runs.ts';

export interface RunCost {
  /** Undefined when there is no estimate. */
  requests?: number;
  /** The source of that number. */
  from: 'past runs' | 'estimate' | 'nothing';
  ms: number;
}

/** From past runs alone. */
export const fromPastRuns = (past: UsualCost | undefined): RunCost =>
  past ? { requests: past.requests, from: 'past runs', ms: past.ms } : { from: 'nothing', ms: 0 };

/** Costs one request for a policy without past runs, to count its candidates. */
export async function estimateRunCost(
  deps: Pick<EngineDeps, 'records' | 'registry' | 'link'>,
  policy: Policy,
): Promise<RunCost> {
  const past = await pastCost(deps, policy);
  const job = jobOf(deps.registry, policy);
  if (past || !job) return fromPastRuns(past);
  try {
    const { targets, planning } = await estimatePlan(deps, policy);
    const { acting, following } = costOf(job, policy, targets, undefined);
    return { requests: planning + acting + following, from: 'estimate', ms: 0 };
  } catch (error) {
    // The service is unavailable or refuses access. The rest of the forecast is still useful.
    if (error instanceof CaretakerError) return { from: 'nothing', ms: 0 };
    throw error;
  }
}
