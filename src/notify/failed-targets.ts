/** The failed targets of a run that a message names, with their reasons. */
import type { Records } from '../records/records.ts';
import { coreReasonText } from '../run/reasons.ts';
import type { Run } from '../run/run.ts';
import { countOf } from '../text.ts';

/** How many targets a message names. */
const MAX_NAMED = 10;
const MAX_WHY = 300;

export interface FailedTarget {
  target: string;
  label: string;
  reason: string;
  /** One sentence. */
  why: string;
}

/**
 * The first ten failed targets of a run in the order of its plan. Reads its targets until it has them, a page of 500 in
 * each round trip.
 */
export async function failedTargetsOf(
  { targets }: Pick<Records, 'targets'>,
  { id, counts }: Run,
): Promise<FailedTarget[]> {
  const failed: FailedTarget[] = [];
  const wanted = Math.min(counts.failed, MAX_NAMED);
  if (wanted === 0) return failed;
  for await (const { id: target, label, outcome, reason, detail } of targets.all(id)) {
    if (outcome !== 'failed' || reason === undefined) continue;
    const why = (detail ?? coreReasonText(reason) ?? reason).slice(0, MAX_WHY);
    failed.push({ target, label, reason, why });
    if (failed.length === wanted) break;
  }
  return failed;
}

/** A line for each, and how many more there are; no line when none could be read. */
export function linesAbout(failed: readonly FailedTarget[], { counts }: Run): string[] {
  if (failed.length === 0) return [];
  const more = counts.failed - failed.length;
  return [
    ...failed.map(({ label, reason, why }) => `${label}: ${reason}: ${why}`),
    ...(more > 0 ? [`... and ${countOf(more, 'more failed target')}.`] : []),
  ];
}
