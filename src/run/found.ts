/**
 * Found is not failed: a check that finds something did its work. Its targets have the outcome `failed`, so that
 * a person is told, and a reason that says so (`found` of `ReasonInfo`).
 */
import type { Reason, Reasons } from './reasons.ts';
import { type Counts, type Outcome, type Run, runStatuses } from './run.ts';

/** The outcomes as people see them. */
export const shownOutcomes = ['succeeded', 'found', 'failed', 'skipped', 'cancelled'] as const;
export type ShownOutcome = (typeof shownOutcomes)[number];

export const shownOutcome = (reasons: Reasons, outcome: Outcome, reason: Reason | undefined): ShownOutcome =>
  outcome === 'failed' && reason && reasons.get(reason)?.found ? 'found' : outcome;

export const shownCounts = ({ found = 0, ...counts }: Counts): Record<ShownOutcome, number> => ({
  succeeded: counts.succeeded,
  found,
  failed: counts.failed - found,
  skipped: counts.skipped,
  cancelled: counts.cancelled,
});

/** The statuses as people see them. */
export const shownStatuses = [...runStatuses, 'found'] as const;
export type ShownStatus = (typeof shownStatuses)[number];

/** `found` when nothing failed but that something was found. */
export const shownStatus = ({ status, counts }: Pick<Run, 'status' | 'counts'>): ShownStatus =>
  (status === 'failed' || status === 'partial') &&
  counts.found !== undefined &&
  counts.found === counts.failed
    ? 'found'
    : status;
