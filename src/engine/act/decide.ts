/**
 * What follows from what one step on one target found out. Pure: the whole of DESIGN section 5's table for a
 * target is here, and nothing here waits, asks or writes.
 */
import { BudgetSpentError } from '../../budget/budget.ts';
import {
  AccountRefusedError,
  ConflictError,
  GoneError,
  RejectedError,
  UnavailableError,
  UnreadableError,
} from '../../client/errors.ts';
import { InvalidInputError } from '../../client/invalid-input.ts';
import { isoMinute } from '../../clock.ts';
import { ContractError } from '../../contract/answers.ts';
import { messageOf } from '../../errors.ts';
import { NotShownError } from '../../expression/not-shown.ts';
import type { Answer, End } from '../../job/answer.ts';
import type { Policy } from '../../policy/policy.ts';
import type { Reason } from '../../run/reasons.ts';
import type { EndingReason, Finding, Held, Outcome, Target, TargetIn, Watch } from '../../run/run.ts';
import { scrub } from '../../secrets.ts';

/** What a step came to: an answer of the job, a reason of the engine to do nothing for now, or an error. */
export type Found =
  | Answer<string>
  /** Come back at `at`: it is too early to tell whether a lost request arrived. */
  | { is: 'too-early'; at: number }
  /** This process leaves, and did not wait for the answer: whoever is next finds out. */
  | { is: 'left' }
  /** The run was cancelled while the target waited. */
  | { is: 'run-cancelled'; ending: EndingReason }
  /** Its task was asked to end, because the run was cancelled: what becomes of it is followed. */
  | { is: 'task-cancel-requested' }
  | { error: unknown };

/** What is to be written. */
export interface Decision {
  target: Target;
  /** For a waiting target: when it may be handed out again. */
  dueAt?: number;
  /** The account refuses us: its runs are to be blocked. */
  refused?: AccountRefusedError;
  /** Something nobody foresaw: the log should hold it whole. */
  unforeseen?: unknown;
}

export interface Circumstances {
  now: number;
  retry: Policy['retry'];
  /** Whether a request without a usable answer is the target's own trouble, and not that of an outage. */
  usesAttempt: boolean;
}

/**
 * What is nobody's failure is tried again sooner than what may fail again: however long an outage was, work
 * goes on soon after.
 */
const OUTAGE_DELAY_MS = 5_000;
const OUTAGE_MAX_MS = 60_000;

/** Decides what becomes of a claimed target. */
export function decide(target: TargetIn<'acting'>, found: Found, circumstances: Circumstances): Decision {
  if ('error' in found) return decideError(target, found.error, circumstances);
  switch (found.is) {
    case 'following':
      return { target: followed(target, found.watch, found.next) };
    case 'next':
      return { target: next(target, found.state), dueAt: circumstances.now };
    case 'waiting': {
      const decision = wait(target, circumstances, { reason: found.reason, detail: found.detail });
      return found.until === undefined ? decision : { ...decision, dueAt: found.until };
    }
    case 'too-early':
      return { target: waiting(target, { detail: target.detail }), dueAt: found.at };
    case 'left':
      return { target: waiting(target, { detail: target.detail }), dueAt: circumstances.now };
    case 'run-cancelled':
      return { target: cancelled(target, found.ending, circumstances.now) };
    case 'task-cancel-requested':
      return { target: taskCancelRequested(target, circumstances.now) };
    default:
      return { target: concluded(target, found, circumstances.now) };
  }
}

/**
 * A target whose work now runs in the service: the intent has its result, the watch says what to look for.
 */
function followed(target: TargetIn<'acting'>, watch: Watch, next: string | undefined): TargetIn<'following'> {
  const { taskCancel: _none, ...rest } = answered(target);
  return {
    ...rest,
    state: 'following',
    watch,
    ...(next === undefined ? {} : { continues: true, partlyDone: true, jobState: next }),
  };
}

/** A target whose task has been asked to end: what becomes of it is followed. */
function taskCancelRequested(target: TargetIn<'acting'>, now: number): Target {
  const { watch, ...rest } = answered(target);
  if (!watch) return cancelled(target, 'cancelled', now);
  return { ...rest, state: 'following', watch, taskCancel: 'requested' };
}

/** A target whose step is over and has left a state for the next. */
const next = (target: TargetIn<'acting'>, jobState: string): TargetIn<'waiting'> => ({
  ...answered(target),
  state: 'waiting',
  partlyDone: true,
  jobState,
});

/** A target whose followed work has ended, however it did: the job goes on with it. */
export function continued(target: TargetIn<'following'>, { is, reason, detail }: End): TargetIn<'waiting'> {
  const { watch: _over, continues: _now, taskCancel: _off, ...rest } = answered(target);
  return { ...rest, state: 'waiting', ended: { is, reason, ...(detail === undefined ? {} : { detail }) } };
}

/** A target of a cancelled run that is still at work in the service: its task is to be cancelled too. */
export const cancelling = (target: TargetIn<'following'>): TargetIn<'waiting'> => ({
  ...target,
  state: 'waiting',
  taskCancel: 'due',
});

/** A target whose task was cancelled with its run. */
export const taskCancelled = (target: Target, now: number): TargetIn<'ended'> =>
  ended(target, 'cancelled', 'run-cancelled', 'Its task in the service was cancelled.', now);

/** A target without what only its last step was concerned with. */
function answered<T extends TargetIn<'acting'> | TargetIn<'following'>>(target: T) {
  const { state, intent, reason, detail, claimed, ended, lostAt, ...rest } = target as T & TargetIn<'acting'>;
  return { ...rest, waits: 0 };
}

/** A target with its outcome, by an answer or a verdict that is an end. */
export function concluded(target: Target, end: End, now: number): TargetIn<'ended'> {
  const outcome = end.is === 'done' ? 'succeeded' : end.is;
  const { findings = [] } = end;
  const concluding = ended(target, outcome, end.reason, end.detail, now);
  return findings.length === 0 ? concluding : { ...concluding, findings: bounded(findings) };
}

/** So many findings of one target are kept, and so much of each: records are kept for months. */
const MAX_FINDINGS = 100;
const MAX_FINDING = 300;

function bounded(findings: readonly Finding[]): Finding[] {
  const kept = findings.slice(0, MAX_FINDINGS).map((finding) => {
    // Before it is cut: half a secret is not recognised as one.
    const says = scrub(finding.message);
    return {
      ...finding,
      says: says.length > MAX_FINDING ? `${says.slice(0, MAX_FINDING)}…` : says,
    };
  });
  const more = findings.length - kept.length;
  return more === 0
    ? kept
    : [...kept, { severity: 'info', about: 'more', message: `${more} more are not kept.` }];
}

/** A target with its outcome. What was only needed on the way is dropped: the record is kept for months. */
export function ended(
  target: Target,
  outcome: Outcome,
  reason: Reason,
  detail: string | undefined,
  now: number,
): TargetIn<'ended'> {
  const { id, label, site, fence: step, attempts, waits, startedAt, taskId } = target;
  return {
    ...{ id, label, fence: step, attempts, waits },
    ...(site === undefined ? {} : { site }),
    ...(startedAt === undefined ? {} : { startedAt }),
    ...(taskId === undefined ? {} : { taskId }),
    state: 'ended',
    outcome,
    reason,
    finishedAt: now,
    ...(detail === undefined ? {} : { detail }),
  };
}

/** What followed work was at when its time was up. */
export const stillUnderWay = ({ label = 'The work in the service' }: Watch): string =>
  `${label} was still under way.`;

/**
 * A target whose time is up. An intent without a result means that nobody knows whether the effect happened.
 */
export function timedOut(target: Target, now: number): TargetIn<'ended'> {
  if (target.intent) {
    const lost = `The answer to ${target.intent.operation} was lost.`;
    const detail = target.detail === undefined ? lost : `${lost} ${target.detail}`;
    return ended(target, 'failed', 'unknown-effect', detail, now);
  }
  // Also while it is tried again: nothing was sent since that would have left an intent.
  if (target.reason === 'conflict') {
    return ended(target, 'failed', 'conflict', target.detail, now);
  }
  const { state, watch } = target;
  // What followed work has to say is that the service knows nothing of it any more.
  const detail = target.detail ?? (state === 'following' && watch ? stillUnderWay(watch) : undefined);
  return ended(target, 'failed', 'timeout', detail, now);
}

/**
 * A target that ends while its run is held: what was done to it since the state that Redis was put back to is
 * not known.
 */
export const inDoubt = (target: Target, { since }: Held, now: number): TargetIn<'ended'> =>
  ended(
    target,
    'failed',
    'unknown-effect',
    `Redis was put back to its state of ${isoMinute(since)}: whether the target was changed after that is not known.`,
    now,
  );

/** A target that will not be worked on (any further) because its run was cancelled. */
export function cancelled(target: Target, ending: EndingReason, now: number): TargetIn<'ended'> {
  const reason = ending === 'cancelled' ? 'run-cancelled' : 'safety-limit';
  const detail = target.partlyDone ? 'Some of its steps had been done.' : undefined;
  return ended(target, 'cancelled', reason, detail, now);
}

function decideError(claimed: TargetIn<'acting'>, error: unknown, circumstances: Circumstances): Decision {
  const { now } = circumstances;
  const target =
    error instanceof UnreadableError && claimed.intent
      ? { ...claimed, intent: { ...claimed.intent, confirmed: true as const } }
      : claimed;
  if (error instanceof BudgetSpentError) return { target: waiting(target, {}), dueAt: error.until };
  if (error instanceof AccountRefusedError) {
    return { target: waiting(target, { detail: error.message }), dueAt: now, refused: error };
  }
  if (error instanceof ConflictError) {
    return wait(target, circumstances, { reason: 'conflict', detail: error.problem.message });
  }
  if (error instanceof GoneError) return { target: ended(target, 'skipped', 'gone', undefined, now) };
  if (error instanceof NotShownError) return { target: undecided(target, error, now) };
  if (error instanceof UnavailableError && !error.sent) return outage(target, error, now);
  if (error instanceof UnavailableError || error instanceof ContractError) {
    return unavailable(target, error, circumstances);
  }
  // An answer that is final. With an intent still open, it was the reconcile that could not be carried out.
  if (error instanceof RejectedError || error instanceof InvalidInputError) {
    const detail = error instanceof RejectedError ? error.problem.message : error.message;
    return { target: ended(target, 'failed', target.intent ? 'unknown-effect' : 'rejected', detail, now) };
  }
  // Nobody foresaw this. What may have happened is looked into before anything is said of it.
  if (target.intent) return { ...unavailable(target, error, circumstances), unforeseen: error };
  return { target: ended(target, 'failed', 'internal', messageOf(error), now), unforeseen: error };
}

/**
 * Nothing is done on something that was not shown; with an intent still open, nobody can tell what became of
 * it.
 */
const undecided = (target: Target, { message }: NotShownError, now: number): TargetIn<'ended'> =>
  target.intent
    ? ended(target, 'failed', 'unknown-effect', message, now)
    : ended(target, 'skipped', 'not-eligible', message, now);

/**
 * The request may have arrived. The intent stays, so that the next step reconciles before anything is sent
 * again. An outage is nobody's, and uses up no attempt.
 */
function unavailable(target: TargetIn<'acting'>, error: unknown, circumstances: Circumstances): Decision {
  const { now, retry, usesAttempt } = circumstances;
  if (!usesAttempt) return outage(target, error, now);
  const attempts = target.attempts + 1;
  if (attempts >= retry.attempts && !target.intent) {
    return { target: ended({ ...target, attempts }, 'failed', 'unavailable', messageOf(error), now) };
  }
  return wait({ ...target, attempts }, circumstances, { detail: messageOf(error) });
}

/** In an outage one target at a time asks whether it is over, so that many may be due. */
function outage(target: TargetIn<'acting'>, error: unknown, now: number): Decision {
  const delay = Math.min(OUTAGE_DELAY_MS * 2 ** target.waits, OUTAGE_MAX_MS);
  return {
    target: waiting({ ...target, waits: target.waits + 1 }, { detail: messageOf(error) }),
    dueAt: now + delay,
  };
}

function wait(
  target: TargetIn<'acting'>,
  { now, retry }: Circumstances,
  why: { reason?: Reason; detail?: string | undefined },
): Decision {
  const doubled = retry.backoff === 'fixed' ? 1 : 2 ** Math.min(target.waits, 20);
  const delay = Math.min(retry.delayMs * doubled, retry.maxDelayMs);
  return { target: waiting({ ...target, waits: target.waits + 1 }, why), dueAt: now + delay };
}

function waiting(
  target: TargetIn<'acting'>,
  { reason, detail }: { reason?: Reason; detail?: string | undefined },
): TargetIn<'waiting'> {
  const { reason: _reason, detail: _detail, claimed: _claimed, ...rest } = target;
  return {
    ...rest,
    state: 'waiting',
    ...(reason === undefined ? {} : { reason }),
    ...(detail === undefined ? {} : { detail }),
  };
}
