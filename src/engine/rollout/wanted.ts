/** Whether a run needs the approval of a person, and why. No I/O. */
import { isDestructive } from '../../contract/operations.ts';
import type { AnyJob } from '../../job/job.ts';
import type { Policy } from '../../policy/policy.ts';
import type { Approval } from '../../run/rollout.ts';
import { countOf } from '../../text.ts';

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
