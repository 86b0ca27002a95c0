/** Features of the account's plan. The spec names them where it needs them (4.6, 4.7). */

import type { PlanFeature } from '../model/account.ts';
import type { World } from '../model/world.ts';
import { cannot } from '../refusal.ts';

/** @throws {Refusal} 422 `plan_without_<feature>`. */
export function requireFeature({ planLacks }: World, feature: PlanFeature): void {
  if (planLacks.has(feature)) {
    throw cannot(`plan_without_${feature}`, `The account's plan has no ${feature.replace('_', ' ')}.`);
  }
}
