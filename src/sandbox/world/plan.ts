/** What the account's plan may have or lack. The spec names the features where it needs them (4.6, 4.7). */
import { cannot } from '../refusal.ts';
import type { World } from './world.ts';

/** Everything that a plan may lack. */
export const planFeatures = ['plugin_branding', 'wp_login', 'update_backup', 'visual_regression'] as const;
export type PlanFeature = (typeof planFeatures)[number];

/** @throws {Refusal} 422 `plan_without_<feature>`. */
export function requireFeature({ planLacks }: World, feature: PlanFeature): void {
  if (planLacks.has(feature)) {
    throw cannot(`plan_without_${feature}`, `The account's plan has no ${feature.replace('_', ' ')}.`);
  }
}
