/** The plan of a policy over a saved inventory. */
import type { Preview } from '../../engine/plan/preview.ts';
import type { Policy } from '../../policy/policy.ts';
import { type OfflinePlan, planOffline } from '../offline-plan.ts';
import { type Inventory, readsOf } from './inventory.ts';

export interface OverInventory extends Pick<OfflinePlan, 'registry' | 'budget'> {
  inventory: Inventory;
  /** What errors call the inventory: its file. */
  name: string;
  /** The time of planning. Default: when the inventory was saved. */
  now?: number;
}

/** @throws {NotHeldError} when the policy reads what the inventory does not hold. */
export function planOverInventory(
  policy: Policy,
  { inventory, name, now = inventory.savedAt, registry, budget }: OverInventory,
  only?: readonly string[],
): Promise<Preview> {
  const serviceNow = now + inventory.serviceAt - inventory.savedAt;
  const reads = readsOf(inventory, name, policy.name, now === inventory.savedAt ? undefined : now);
  return planOffline(policy, { reads, registry, now, serviceNow, budget }, only);
}
