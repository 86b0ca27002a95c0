/**
 * Which runs a policy gets that follows another (`schedule.after`): a decision without clock or records.
 *
 * Each end of the predecessor's runs has a time of its own, which is the scheduled time of the run that it
 * starts. So the cursor and the ledger work as they do for crons: a time with a record makes no run.
 */
import { oneOf } from '../policy/chains.ts';
import type { After, Schedule } from '../policy/policy.ts';
import type { RunEnd } from '../records/end-store.ts';
import { AHEAD_MS } from '../records/ledger-store.ts';
import type { Records } from '../records/records.ts';
import type { Run, RunStatus, Trigger } from '../run/run.ts';
import { jitterOf } from './cron-times.ts';
import { type Decision, type Due, NOTICED_WITHIN_MS, type ScheduleState } from './due.ts';
import { skipCauseOf } from './skip-cause.ts';

/** The end of a run of the predecessor. */
export interface PredecessorEnd {
  /** Its own time: no other end of the policy has it. */
  at: number;
  run: string;
  status: RunStatus;
  trigger: Trigger;
  /** A person chose single targets (`run --target`). */
  onlySome: boolean;
  /** How the runs ended that it retries, the latest first. */
  retried: readonly RunStatus[];
}

export type ChainedSchedule = Schedule & { after: After };

export const isChained = (schedule: Schedule): schedule is ChainedSchedule => schedule.after !== undefined;

/** Why an end starts no run of the policy that follows, in a few words; nothing when it starts one. */
export function whyNotFollowed({ status }: After, end: PredecessorEnd): string | undefined {
  if (end.trigger === 'backfill') return 'it was a backfill';
  if (!isAmong(status, end.status)) return `it ended ${end.status}, not ${oneOf(status)}`;
  if (end.onlySome && end.trigger === 'manual') return 'it was run for single targets';
  const earlier = end.retried.find((one) => isAmong(status, one));
  if (earlier !== undefined) return `it was a retry of a run that ended ${earlier} and was followed then`;
  return undefined;
}

const isAmong = (statuses: readonly RunStatus[], one: RunStatus): boolean => statuses.includes(one);

/** When the run that an end starts is due: the end plus jitter. */
export const chainedDueAt = (policyName: string, { jitterMs }: Schedule, endedAt: number): number =>
  endedAt + jitterOf(policyName, endedAt, jitterMs);

/**
 * The time from which ends count. A new policy, and one that follows another policy since now, has no past
 * but the few seconds in which its file may not have been read.
 */
export const chainStart = (cursor: number | undefined, now: number): number =>
  cursor ?? now - NOTICED_WITHIN_MS;

/**
 * Decides about ends of the predecessor's runs, oldest first, up to the first that is not due yet because of
 * its jitter. `endsTo`: the latest end that was read; that of a run that is no longer stored is not among
 * `ends`. `isAll`: whether there are no others after it.
 *
 * Each end that counts starts a run, unless the policy is kept from firing, or the end is noticed later than
 * `within`.
 */
export function whatFollows(
  policyName: string,
  schedule: ChainedSchedule,
  ends: readonly PredecessorEnd[],
  { isAll, endsTo, ...state }: ScheduleState & { isAll: boolean; endsTo: number },
): Due {
  const { now } = state;
  const decisions: Decision[] = [];
  let cursor = chainStart(state.cursor, now);
  for (const end of ends) {
    if (whyNotFollowed(schedule.after, end) === undefined) {
      // At a time that the clock has gone back from, it is over nevertheless.
      const dueAt = end.at - now > AHEAD_MS ? now : chainedDueAt(policyName, schedule, end.at);
      // Later ends wait for it, which delays them by no more than `jitter`.
      if (dueAt > now) return { decisions, cursor, nextDueAt: dueAt };
      decisions.push(evaluate(schedule, state, end, dueAt));
    }
    cursor = end.at;
  }
  return { decisions, cursor: Math.max(cursor, endsTo), ...(isAll ? {} : { nextDueAt: now }) };
}

function evaluate(
  schedule: ChainedSchedule,
  state: ScheduleState,
  { at: scheduledFor, run: afterRun }: PredecessorEnd,
  dueAt: number,
): Decision {
  const { now } = state;
  const skipCause = skipCauseOf(schedule, state, { scheduledFor, dueAt });
  if (skipCause) return { is: 'skip', scheduledFor, afterRun, ...skipCause };
  if (now - dueAt > schedule.after.withinMs) return { is: 'missed', scheduledFor, afterRun };
  const causeNow = skipCauseOf(schedule, state, { scheduledFor, dueAt, now });
  if (causeNow) return { is: 'skip', scheduledFor, afterRun, ...causeNow };
  return { is: 'fire', scheduledFor, trigger: 'after', afterRun };
}

// Reads what a policy that follows another has to know about the ends of the other's runs.

/** A retry of a retry, and so on: more are not looked through. */
const MAX_RETRIES = 50;

/** The ends with their runs, in the same order; without those whose run is no longer stored. */
export async function predecessorEnds(
  { runs }: Pick<Records, 'runs'>,
  ends: readonly RunEnd[],
): Promise<PredecessorEnd[]> {
  const found = await Promise.all(
    ends.map(async ({ run: id, at }) => {
      const run = await runs.get(id);
      if (!run) return undefined;
      const { status, trigger } = run;
      const [onlySome, retried] = await Promise.all([
        trigger === 'manual' ? runs.only(id).then((only) => only.length > 0) : false,
        retriedBy(runs, run),
      ]);
      return { at, run: id, status, trigger, onlySome, retried };
    }),
  );
  return found.flatMap((end) => end ?? []);
}

/** How the runs ended that a run retries. */
async function retriedBy(runs: Records['runs'], run: Run): Promise<RunStatus[]> {
  const statuses: RunStatus[] = [];
  let { retryOf } = run;
  while (retryOf !== undefined && statuses.length < MAX_RETRIES) {
    const earlier = await runs.get(retryOf);
    if (!earlier) break;
    // A backfill starts nothing, however it ends.
    if (earlier.trigger !== 'backfill') statuses.push(earlier.status);
    retryOf = earlier.retryOf;
  }
  return statuses;
}
