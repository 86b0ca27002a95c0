/** The numbers beside entries of the sidebar. */

import type { Policy } from '../../policy/policy.ts';
import type { Reader } from './reader.ts';
import type { SystemStatus } from './system-status.ts';

/** More than this many are shown as `99+`. */
const MAX_COUNTED = 100;

export interface Counters {
  /** Runs that have not ended. */
  activeRuns: number;
  /** Runs that wait for an approval. */
  approvals: number;
  /** Findings of severity `error` of active policies that are new. */
  newErrors: number;
}

export const noCounters: Counters = { activeRuns: 0, approvals: 0, newErrors: 0 };

/**
 * Costs one read of an index, plus the waiting runs and one short command for each policy with findings. While Redis
 * does not answer, nothing is counted. With an account only what belongs to it is.
 */
export async function readCounters(
  reader: Reader,
  status: SystemStatus,
  policies: readonly Policy[],
  account?: string,
): Promise<Counters> {
  const isCounted = (one: { account: string }) => account === undefined || one.account === account;
  if (status.health.redis === 'down') return noCounters;
  const [waiting, newErrors] = await Promise.all([
    reader.runs({ status: 'awaiting-approval', limit: MAX_COUNTED }),
    reader.findings.countNewErrors(policies.filter(isCounted)),
  ]);
  return {
    activeRuns: status.accounts.filter(isCounted).reduce((sum, { activeRuns }) => sum + activeRuns, 0),
    approvals: waiting.filter(isCounted).length,
    newErrors,
  };
}
