/** Puts the targets of a stored plan into batches. */
import { createHash } from 'node:crypto';
import type { Policy } from '../../policy/policy.ts';
import type { Records } from '../../records/records.ts';
import { assignBatches, type Batch, batchesOf } from '../../run/rollout.ts';

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
