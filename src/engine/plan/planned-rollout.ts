/** What a plan shows of the batches and the approval that a run would have. No I/O. */
import type { AnyJob } from '../../job/job.ts';
import type { Policy } from '../../policy/policy.ts';
import { assignBatches, type Batch, batchesOf } from '../../run/rollout.ts';
import { approvalWanted, type Wanted } from '../rollout/place.ts';

interface PlannedBatch extends Pick<Batch, 'takes' | 'targets'> {
  /** Its first targets, in the order of the plan. */
  first: { id: string; label: string }[];
}

interface PlannedApproval extends Wanted {
  /** The roles and names of users that may decide. */
  by: readonly string[];
  expiresMs: number;
  separate?: true;
  eachBatch?: true;
}

export interface PlannedRollout {
  /** Missing without `rollout` in the policy, and without targets. */
  batches?: PlannedBatch[];
  /** Missing when the run would need no approval. */
  approval?: PlannedApproval;
}

/** How many targets of a batch a plan names. */
const MAX_FIRST = 3;

/** The batches and the approval of a run with these targets, as `firstStep` makes them. */
export function plannedRollout(
  policy: Pick<Policy, 'rollout' | 'approval' | 'options'>,
  job: AnyJob,
  targets: readonly { id: string; label: string; inBatches?: readonly number[] }[],
): PlannedRollout {
  const { rollout, approval } = policy;
  const wanted = approvalWanted(policy, job, targets.length);
  return {
    ...(rollout && targets.length > 0 ? { batches: batchesWith(rollout.batches, targets) } : {}),
    ...(wanted && approval
      ? {
          approval: {
            ...wanted,
            by: approval.by ?? ['approver', 'admin'],
            expiresMs: approval.expiresMs,
            ...(approval.separate ? { separate: true } : {}),
            ...(approval.eachBatch && rollout ? { eachBatch: true } : {}),
          },
        }
      : {}),
  };
}

function batchesWith(
  rules: NonNullable<Policy['rollout']>['batches'],
  targets: readonly { id: string; label: string; inBatches?: readonly number[] }[],
): PlannedBatch[] {
  const batchOf = assignBatches(rules, targets.length);
  const taken = Array.from({ length: rules.length + 1 }, (): { id: string; label: string }[] => []);
  for (const target of targets) taken[batchOf(target.inBatches)]?.push(target);
  const sizes = taken.map(({ length }) => length);
  return batchesOf(rules, sizes).map((batch, i) => ({
    ...batch,
    first: (taken[i] ?? []).slice(0, MAX_FIRST).map(({ id, label }) => ({ id, label })),
  }));
}
