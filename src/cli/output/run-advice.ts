/** Advice about the targets of a run: wait for lost work, check the account, retry. */
import { isoClock } from '../../clock.ts';
import { confirmAt } from '../../engine/follow/pace.ts';
import type { Reasons } from '../../run/reasons.ts';
import type { Run, Target } from '../../run/run.ts';
import { countOf } from '../../text.ts';

/** Why a run is partial or failed: the reasons with their numbers; undefined for any other run. */
export function failureSummary(
  { status, counts }: Pick<Run, 'status' | 'counts'>,
  targets: readonly Target[],
): string | undefined {
  if (status !== 'partial' && status !== 'failed') return undefined;
  const reasons = new Map<string, number>();
  for (const { outcome, reason } of targets)
    if (outcome === 'failed' && reason !== undefined) reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
  const [most, ...others] = [...reasons].sort(([, a], [, b]) => b - a);
  if (!most) return undefined;
  const named = [most, ...others].map(([reason, count]) => `${count} ${reason}`).join(', ');
  return `The run is ${status} because ${counts.failed} of ${countOf(counts.planned, 'target')} failed: ${named}. "caretaker explain ${most[0]}" shows what to do.`;
}

/** Advises a retry if it may help, and a check of the account if a retry might repeat a change. */
export function retryAdvice({ id }: Pick<Run, 'id'>, targets: readonly Target[], reasons: Reasons): string[] {
  const failed = targets.filter(({ outcome }) => outcome === 'failed');
  const unknown = failed.filter(({ reason }) => reason === 'unknown-effect').length;
  return [
    ...(unknown === 0
      ? []
      : [
          `It is unknown whether ${countOf(unknown, 'target')} changed (unknown-effect). Check the account before you retry.`,
        ]),
    ...(failed.some(({ reason = '' }) => reasons.get(reason)?.retryable)
      ? [`Retry the failed targets: caretaker runs retry ${id}`]
      : []),
  ];
}

/**
 * The number of targets that wait for lost work, and the time of the next search; undefined when none waits.
 */
export function formatLostWork(targets: readonly Target[], now: number): string | undefined {
  const lost = targets.flatMap(({ lostAt }) => (lostAt === undefined ? [] : [lostAt]));
  if (lost.length === 0) return undefined;
  const again = confirmAt(Math.min(...lost));
  const when = again > now ? `from ${isoClock(again)} on` : 'now';
  const verb = lost.length === 1 ? 'waits' : 'wait';
  return `${countOf(lost.length, 'target')} ${verb} for work that the service no longer knows. Caretaker searches for it again ${when}; targets whose work is not found then end as unknown-effect.`;
}
