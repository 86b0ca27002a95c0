/** Which targets a change of a policy gains and loses, with a saved inventory. Costs no request. */
import type { Preview } from '../engine/plan/preview.ts';
import { CaretakerError } from '../errors.ts';
import type { Registry } from '../job/registry.ts';
import type { Policy } from '../policy/policy.ts';
import type { Settings } from '../settings/settings.ts';
import { shortFile } from '../yaml/diagnostic.ts';

interface Target {
  id: string;
  label: string;
}

/** `unknown`: why the targets cannot be compared. */
export type TargetChanges = { gained: Target[]; lost: Target[] } | { unknown: string };

/** The targets that a run of the policy would work on. */
export type TargetsOf = (policy: Policy) => Promise<Preview['targets']>;

/** @throws {InventoryError} when the file cannot be read. */
export async function openTargets(
  file: string,
  { settings, registry, at }: { settings: Settings; registry: Registry; at?: number },
): Promise<TargetsOf> {
  const [{ readInventory }, { planOverInventory }, { usualBudget }] = await Promise.all([
    import('../offline/inventory/file.ts'),
    import('../offline/inventory/inventory.ts'),
    import('../offline/offline-plan.ts'),
  ]);
  const inventory = readInventory(file);
  return async (policy) => {
    const budget = settings.accounts[policy.account]?.budget ?? usualBudget;
    const over = {
      inventory,
      name: shortFile(file),
      registry,
      budget,
      ...(at === undefined ? {} : { now: at }),
    };
    return (await planOverInventory(policy, over)).targets;
  };
}

/** A policy that does not exist has no targets. */
export async function targetChanges(
  before: Policy | undefined,
  after: Policy | undefined,
  targetsOf: TargetsOf,
): Promise<TargetChanges> {
  try {
    const old = before ? await targetsOf(before) : [];
    const now = after ? await targetsOf(after) : [];
    return { gained: without(now, old), lost: without(old, now) };
  } catch (error) {
    // The inventory does not hold what the policy reads: then nothing is known about its targets.
    if (error instanceof CaretakerError) return { unknown: error.message };
    throw error;
  }
}

function without(these: Preview['targets'], others: Preview['targets']): Target[] {
  const ids = new Set(others.map(({ id }) => id));
  return these.filter(({ id }) => !ids.has(id)).map(({ id, label }) => ({ id, label }));
}
