/** Saved plans in tests: as they are read back from their file. */
import { hashOfPlan, parseSavedPlan, type SavedPlan } from '../../src/engine/plan/saved-plan.ts';
import type { Policy } from '../../src/policy/policy.ts';
import type { Run } from '../../src/run/run.ts';
import type { World } from './caretaker.ts';

const WEEK_MS = 7 * 86_400_000;

/** The plan of a policy, saved and read again. */
export async function savePlanOf(
  { caretaker, sandbox }: World,
  policy: Policy,
  changes: { only?: string[]; expiresMs?: number } = {},
): Promise<SavedPlan> {
  const saving = { expiresMs: WEEK_MS, baseUrl: sandbox.url, version: 'test', ...changes };
  const { saved } = await caretaker.engine.planToSave(policy, saving);
  return parseSavedPlan(JSON.stringify(saved), 'plan.json');
}

export const applySaved = ({ caretaker }: World, saved: SavedPlan): Promise<Run> =>
  caretaker.engine.apply(saved, {});

/** Plans a policy, and applies the plan at once. */
export const applyPlanOf = async (world: World, policy: Policy): Promise<Run> =>
  applySaved(world, await savePlanOf(world, policy));

/** The same plan with changes, and the hash that fits them: as somebody would forge it. */
export function forged(saved: SavedPlan, change: (plan: SavedPlan) => void): SavedPlan {
  const plan = structuredClone(saved);
  change(plan);
  return { ...plan, hash: hashOfPlan(plan) };
}

/** A small plan as the file has it: one site is synchronised. */
export function aSavedPlan(policy: Policy, changes: Partial<Omit<SavedPlan, 'hash'>> = {}): SavedPlan {
  const now = Date.now();
  const plan: Omit<SavedPlan, 'hash'> = {
    format: 1,
    caretaker: 'test',
    planned_at: new Date(now).toISOString(),
    planned_at_service: new Date(now).toISOString(),
    expires_at: new Date(now + WEEK_MS).toISOString(),
    account: { name: policy.account, base_url: 'http://127.0.0.1:1/api/v6' },
    policy: { name: policy.name, job: policy.job, file: policy.file, definition: policy },
    names: [],
    targets: [
      {
        id: 'site-1',
        label: 'one.example',
        requests: [{ operation: 'syncSite', params: { site_id: 'site-1' } }],
        preconditions: {},
        cost: 1,
      },
    ],
    settled: [],
    excluded: [],
    recording: null,
    warnings: [],
    cost: { acting: 1, following: 1 },
    totals: { targets: 1, requests: 1, settled: 0, excluded: 0 },
    ...changes,
  };
  const asRead = JSON.parse(JSON.stringify(plan)) as typeof plan;
  return { ...asRead, hash: hashOfPlan(asRead) };
}
