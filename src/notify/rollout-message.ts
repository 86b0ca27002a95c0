/** The messages about runs that wait for a person. */
import { endedCount } from '../run/moves.ts';
import { toSummary } from '../run/report.ts';
import { lastApproval, type Seen } from '../run/rollout.ts';
import { formatStanding } from '../run/rollout-report.ts';
import type { Run } from '../run/run.ts';
import { redact } from '../secrets.ts';
import { countOf, linesOf } from '../text.ts';
import type { Message } from './message.ts';

/** How many targets a message names. */
const MAX_NAMED = 10;

/** The message that a run waits for an approval, or that it was not approved in time, without secrets. */
export function messageAboutApproval(run: Run, is: 'wanted' | 'expired'): Message {
  const text =
    is === 'wanted'
      ? `${run.policy} waits for an approval (${waitingPart(run)}). ${formatStanding(run) ?? ''} caretaker approvals approve ${run.id}`
      : `${run.policy} was cancelled: ${run.detail ?? 'it was not approved in time.'}`;
  return redact({ text: linesOf([text]), ...toSummary(run) }) as Message;
}

/** How many targets wait: those of the batches of the approval that have no outcome yet. */
function waitingPart(run: Run): string {
  const { from = 1, to = 1 } = lastApproval(run) ?? {};
  const { batches = [] } = run.rollout ?? {};
  const inBatches = batches.slice(from - 1, to).reduce((sum, { targets }) => sum + targets, 0);
  const targets = countOf(Math.min(inBatches, run.counts.planned - endedCount(run.counts)), 'target');
  if (to - from + 1 >= batches.length) return targets;
  return `${from === to ? `batch ${from}` : `batches ${from} to ${to}`} of ${batches.length}: ${targets}`;
}

/** The message that a gate closed, with the first targets that did not do well, without secrets. */
export function messageAboutGate(run: Run, seen: readonly Seen[]): Message {
  const lines = seen
    .slice(0, MAX_NAMED)
    .map(({ label, is, why }) => `${label}: ${is}${why === undefined ? '' : ` (${why})`}`);
  const more = seen.length - lines.length;
  const text = [
    `${run.policy}: ${run.detail ?? 'a gate closed.'}`,
    ...lines,
    ...(more > 0 ? [`... and ${more} more.`] : []),
  ];
  return redact({ text: linesOf(text), ...toSummary(run) }) as Message;
}
