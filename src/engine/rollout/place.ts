/** Puts the targets of a stored plan into batches. */
import { createHash } from 'node:crypto';
import { isDestructive } from '../../contract/operations.ts';
import type { AnyJob } from '../../job/job.ts';
import type { Policy } from '../../policy/policy.ts';
import type { Records } from '../../records/records.ts';
import { type Approval, assignBatches, type Batch, batchesOf } from '../../run/rollout.ts';
import { countOf } from '../../text.ts';

const PAGE = 500;

/**
 * Reads the plan page by page, and gives the batches; without `rollout`, all targets are one batch. Undefined when
 * another attempt at planning has begun.
 *
 * @param targets how many targets there are to work on.
 */
export async function placeTargets(
  records: Pick<Records, 'targets' | 'batches'>,
  run: string,
  planFence: number,
  { rollout }: Pick<Policy, 'rollout'>,
  targets: number,
): Promise<Batch[] | undefined> {
  const rules = rollout?.batches ?? [];
  const batchOf = assignBatches(rules, targets);
  const sizes = new Array<number>(rules.length + 1).fill(0);
  for (let from = 0; ; from += PAGE) {
    const page = await records.targets.slice(run, from, PAGE);
    const placed = page.flatMap((target, at) => {
      if (target.state !== 'pending') return [];
      const batch = batchOf(target.inBatches);
      sizes[batch] = (sizes[batch] ?? 0) + 1;
      return [{ id: target.id, batch: batch + 1, position: from + at }];
    });
    const isLast = page.length < PAGE;
    if (!(await records.batches.place(run, planFence, placed, { isFirst: from === 0, isLast })))
      return undefined;
    if (isLast) break;
  }
  return batchesOf(rules, sizes);
}

/** The hash that a decision about the batches from this one on shows. */
export const hashFrom = (planHash: string, from: number): string =>
  createHash('sha256').update(`${planHash}:${from}`).digest('hex').slice(0, 12);

// Whether a run needs the approval of a person, and why. No I/O.

/** Why an approval is wanted, as it is recorded. */
export type Wanted = Pick<Approval, 'why' | 'destructive'>;

/**
 * Why a run of the policy with this many targets needs an approval; undefined when it needs none, as with no targets at
 * all. A job that does not declare what it calls counts as destructive.
 */
export function approvalWanted(
  { approval, options }: Pick<Policy, 'approval' | 'options'>,
  job: AnyJob,
  targets: number,
): Wanted | undefined {
  if (!approval || targets === 0) return undefined;
  const changes = job.changes?.(options);
  const destructive = [...new Set((changes ?? []).filter(isDestructive))];
  const facts = destructive.length === 0 ? {} : { destructive };
  const { when } = approval;
  if (when === 'always') return { why: 'Every run of the policy needs an approval.', ...facts };
  if (when === 'destructive') {
    if (!changes)
      return { why: `The job ${job.name} does not declare what it calls, so it counts as destructive.` };
    if (destructive.length === 0) return undefined;
    return { why: `It may call what is destructive: ${destructive.join(', ')}.`, ...facts };
  }
  if (targets <= when.overTargets) return undefined;
  return { why: `It has ${countOf(targets, 'target')}, more than ${when.overTargets}.`, ...facts };
}
