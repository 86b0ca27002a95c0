/** What a person is told of trying again, at the end of a run in which something failed. */
import type { Reasons } from '../../run/reasons.ts';
import type { Run, Target } from '../../run/run.ts';
import { countOf } from '../../text.ts';

/**
 * Advises a retry where it may help, and a look at the account where it might do a second time what was done.
 */
export function retryAdvice({ id }: Pick<Run, 'id'>, targets: readonly Target[], reasons: Reasons): string[] {
  const failed = targets.filter(({ outcome }) => outcome === 'failed');
  const unknown = failed.filter(({ reason }) => reason === 'unknown-effect').length;
  return [
    ...(unknown === 0
      ? []
      : [
          `It is unknown whether ${countOf(unknown, 'target')} changed (unknown-effect): look in the account before you retry.`,
        ]),
    ...(failed.some(({ reason = '' }) => reasons.get(reason)?.retryable)
      ? [`Retry what failed: caretaker runs retry ${id}`]
      : []),
  ];
}
