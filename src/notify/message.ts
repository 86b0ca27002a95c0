/** The message about a run: its summary, as the command line and the API show it, and one sentence for people. */
import { isoMinute, isoTime } from '../clock.ts';
import type { Pause } from '../records/policy-store.ts';
import type { Problem } from '../records/problem-store.ts';
import type { Records } from '../records/records.ts';
import { shownCounts, shownStatus } from '../run/moves.ts';
import { coreReasonText } from '../run/reasons.ts';
import { formatLate, type RunSummary, toSummary } from '../run/report.ts';
import type { Counts, FindingChange, Run, RunStatus } from '../run/run.ts';
import { redact } from '../secrets.ts';
import { countOf, linesOf } from '../text.ts';

// The failed targets of a run that a message names, with their reasons.

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
  { targets }: { targets: Pick<Records['targets'], 'all'> },
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

/** The body of a notification. Chat services such as Slack show only `text`. */
export interface Message extends RunSummary {
  text: string;
}

/** The message about a run, with the failed targets that it names and the failures before it, without secrets. */
export const messageAbout = (run: Run, failed: readonly FailedTarget[] = [], streak?: Streak): Message =>
  redact({
    text: linesOf([
      sentenceAbout(run),
      ...(streak && streak.count > 1 ? [`${formatStreak(streak)}.`] : []),
      ...linesAbout(failed, run),
    ]),
    ...toSummary(run),
    ...(failed.length > 0 ? { failed_targets: failed } : {}),
    ...(streak ? { streak: toStreakReport(streak) } : {}),
  }) as Message;

/** The message that a run succeeded after failures that were reported, without secrets. */
export const messageAboutRecovery = (run: Run, streak: Streak): Message =>
  redact({
    text: linesOf([
      sentenceAbout(run, 'recovered'),
      streak.count > 1 ? `Before: ${formatStreak(streak)}.` : `It failed at ${isoMinute(streak.since)}.`,
    ]),
    ...toSummary(run),
    streak: toStreakReport(streak),
  }) as Message;

/** Runs with failures in a row. */
type Streak = Pick<Problem, 'count' | 'since'>;

const formatStreak = ({ count, since }: Streak): string =>
  `${countOf(count, 'run')} in a row with failures, since ${isoMinute(since)}`;

const toStreakReport = ({ count, since }: Streak) => ({ runs: count, since: isoTime(since) });

/** The body of the notification that a policy was paused. The run is the one after which it was paused. */
export interface PauseMessage extends Message {
  paused: { at: string; by: string; reason: string | null };
}

/** The message that a policy was paused after `run`, without secrets. */
export const messageAboutPause = (run: Run, { at, by, reason }: Pause): PauseMessage =>
  redact({
    text: linesOf([
      `${run.policy} was paused by ${by}${reason === undefined ? '' : `: ${reason}`}. No scheduled run starts until it is resumed: caretaker policies resume ${run.policy}.`,
    ]),
    ...toSummary(run),
    paused: { at: isoTime(at), by, reason: reason ?? null },
  }) as PauseMessage;

/** The message that a run is predicted to miss its deadline, or has missed it, without secrets. */
export const messageAboutDeadline = (run: Run): Message =>
  redact({
    text: `${run.policy} ${formatLate(run) ?? 'misses its deadline'}.`,
    ...toSummary(run),
  }) as Message;

/** The message about the findings of a run that are new or resolved, without secrets. */
export const messageAboutFindings = (run: Run): Message =>
  redact({ text: textAboutFindings(run), ...toSummary(run) }) as Message;

/** One line for all, then one for each of the first ten that are new, and of the first ten that are resolved. */
function textAboutFindings({ policy, findings }: Run): string {
  if (!findings) return `${policy}: no findings.`;
  const { open, new: added, resolved, firstNew = [], firstResolved = [] } = findings;
  const lines = (what: string, count: number, named: readonly FindingChange[]): string[] => [
    ...named.map(({ label, message, since }) => `${what}: ${label}: ${message} (since ${isoMinute(since)})`),
    ...(count > named.length ? [`... and ${count - named.length} more.`] : []),
  ];
  return linesOf([
    `${policy}: ${countOf(added, 'new finding')}, ${resolved} resolved, ${open} open.`,
    ...lines('New', added, firstNew),
    ...lines('Resolved', resolved, firstResolved),
  ]);
}

const verbs: Record<RunStatus | 'found', string> = {
  found: 'found something',
  queued: 'is waiting',
  planning: 'is being planned',
  'awaiting-approval': 'waits for an approval',
  running: 'is running',
  blocked: 'is blocked because the account refuses access',
  succeeded: 'succeeded',
  partial: 'ended with failures',
  failed: 'failed',
  cancelled: 'was cancelled',
  skipped: 'was skipped',
  stopped: 'was stopped by a safety limit',
};

/** What happened, in one sentence: "nightly-sync failed: of 12 targets, 10 failed and 2 were skipped." */
export function sentenceAbout(run: Run, verb = verbs[shownStatus(run)]): string {
  const { policy, counts, detail } = run;
  const tally = tallyOf(counts);
  const result = `${policy} ${verb}${tally === '' ? '' : `: ${tally}`}`;
  return detail === undefined ? `${result}.` : `${result} (${detail.replace(/\.$/, '')}).`;
}

function tallyOf(all: Counts): string {
  const counts = shownCounts(all);
  const parts = [
    counts.succeeded > 0 && `${counts.succeeded} succeeded`,
    counts.found > 0 && `${counts.found} ${counts.found === 1 ? 'has a finding' : 'have findings'}`,
    counts.failed > 0 && `${counts.failed} failed`,
    counts.skipped > 0 && `${counts.skipped} ${were(counts.skipped)} skipped`,
    counts.cancelled > 0 && `${counts.cancelled} ${were(counts.cancelled)} cancelled`,
  ].filter((part) => part !== false);
  if (parts.length === 0) return '';
  const targets = all.planned === 1 ? 'target' : 'targets';
  return `of ${all.planned} ${targets}, ${new Intl.ListFormat('en').format(parts)}`;
}

const were = (count: number): string => (count === 1 ? 'was' : 'were');
