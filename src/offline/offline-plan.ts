/** The plan of a policy over `Reads`: no network, no Redis, and nothing known of earlier runs. */
import type { PlanRecords } from '../engine/deps.ts';
import { type Preview, previewPlan } from '../engine/plan/preview.ts';
import type { Registry } from '../job/registry.ts';
import type { Policy } from '../policy/policy.ts';
import { offlineClient } from './offline-client.ts';
import type { Reads } from './reads.ts';

/** Records of which there are none. */
export const noRecords: PlanRecords = {
  runs: {
    list: async () => [],
    ofVersion: async () => [],
    active: async () => [],
    get: async () => undefined,
    only: async () => [],
  },
  targets: {
    async *all() {},
  },
  freeze: { over: async () => undefined, ofTargets: async () => [] },
  announcements: { all: async () => new Map() },
  findings: { async *pages() {} },
  looks: { last: async () => undefined },
  once: { results: async (_account, names) => names.map(() => undefined) },
};

/** The usual limit of the service and the usual reserve, where no configuration says otherwise. */
export const usualBudget = { requestsPerMinute: 200, reserve: 0.1 };

export interface OfflinePlan {
  reads: Reads;
  registry: Pick<Registry, 'get'>;
  /** The time of planning, by our clock and by the service's. */
  now: number;
  serviceNow: number;
  /** The account's budget, which the plan's duration is estimated from. */
  budget: { requestsPerMinute: number; reserve: number };
}

/**
 * Plans without storing or sending anything.
 *
 * @throws {NotHeldError} when the policy reads what `reads` does not hold; the service's recorded errors.
 */
export function planOffline(
  policy: Policy,
  { reads, registry, now, serviceNow, budget }: OfflinePlan,
  only?: readonly string[],
): Promise<Preview> {
  const client = offlineClient({ account: policy.account, reads, now, serviceNow });
  const limit = budget.requestsPerMinute;
  const usage = async () => ({ limit, reserved: Math.round(limit * budget.reserve) });
  const link = () => ({ client, budget: { usage } });
  // Tests name the reason why a candidate is excluded, and to read all of them costs nothing.
  const deps = { records: noRecords, registry, clock: { now: () => now }, link, listsAll: true };
  return previewPlan({ ...deps, reading: client }, policy, only);
}
