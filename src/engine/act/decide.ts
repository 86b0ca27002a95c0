/**
 * Decides what follows from the result of one step on one target. The whole table of docs/reliability.md for a
 * target is here. These functions are pure: they do not wait, send or write.
 */
import { BudgetSpentError } from '../../budget/budget.ts';
import {
  AccountRefusedError,
  ConflictError,
  GoneError,
  InvalidInputError,
  RejectedError,
  UnavailableError,
  UnreadableError,
} from '../../client/errors.ts';
import { ContractError } from '../../contract/answers.ts';
import { defined } from '../../defined.ts';
import { messageOf } from '../../errors.ts';
import { NotShownError } from '../../expression/fields.ts';
import type { End, StepAnswer } from '../../job/answer.ts';
import type { Policy } from '../../policy/policy.ts';
import { writeRefusal } from '../../redis/refusal.ts';
import type { Reason } from '../../run/reasons.ts';
import type { EndingReason, Finding, Outcome, StepEnd, Target, TargetIn } from '../../run/run.ts';
import { scrub } from '../../secrets.ts';

/** The result of a step: an answer of the job, a reason of the engine to do nothing for now, or an error. */
export type StepResult =
  | StepAnswer<string>
  /** It is too early to tell whether a lost request arrived. Try again at `at`. */
  | { is: 'too-early'; at: number }
  /** This process is stopping and did not wait for the answer. The next worker reconciles. */
  | { is: 'interrupted' }
  /** The run was cancelled while the target waited. */
  | { is: 'run-cancelled'; ending: EndingReason }
  /**
   * The cancellation of its task was requested, because the run was cancelled. The task is followed to its
   * end.
   */
  | { is: 'task-cancel-requested' }
  | { error: unknown };

/** What is to be written. */
export interface Decision {
  target: Target;
  /** For a waiting target: when it may be released again. */
  dueAt?: number;
  /** The account refuses access: its runs must be blocked. */
  refused?: AccountRefusedError;
  /** An unexpected error, which is logged in full. */
  unexpected?: unknown;
}

export interface Circumstances {
  now: number;
  retry: Policy['retry'];
  acceptRejections?: Policy['acceptRejections'] | undefined;
  /**
   * Whether a request without a usable answer counts as an attempt of the target. In an outage it does not.
   */
  countsAsAttempt: boolean;
}

/**
 * The delays after an outage are shorter than those after a failure of the target, so that work continues
 * soon after an outage of any length.
 */
const OUTAGE_DELAY_MS = 5_000;
const OUTAGE_MAX_MS = 60_000;

/** Decides what becomes of a claimed target. */
export function decide(
  target: TargetIn<'acting'>,
  found: StepResult,
  circumstances: Circumstances,
): Decision {
  if ('error' in found) return decideError(target, found.error, circumstances);
  switch (found.is) {
    case 'following':
      return { target: following(target, found) };
    case 'next':
      return { target: next(target, found.state), dueAt: circumstances.now };
    case 'step-done':
      return {
        target: stepDone(target, found.end, circumstances.now, found.state),
        dueAt: circumstances.now,
      };
    case 'waiting': {
      const decision = wait(target, circumstances, { reason: found.reason, detail: found.detail });
      return found.until === undefined ? decision : { ...decision, dueAt: found.until };
    }
    case 'too-early':
      return { target: waiting(target, { detail: target.detail }), dueAt: found.at };
    case 'interrupted':
      return { target: waiting(target, { detail: target.detail }), dueAt: circumstances.now };
    case 'run-cancelled':
      return { target: cancelled(target, found.ending, circumstances.now) };
    case 'task-cancel-requested':
      return { target: taskCancelRequested(target, circumstances.now) };
    default:
      return { target: concluded(target, accepted(found, circumstances), circumstances.now) };
  }
}

/**
 * A target whose work now runs in the service. Its intent has a result, and its watch says what to look for.
 */
function following(
  target: TargetIn<'acting'>,
  { watch, next, endsStep }: Extract<StepAnswer<string>, { is: 'following' }>,
): TargetIn<'following'> {
  const { taskCancel: _taskCancel, ...rest } = withoutStepFields(target);
  return {
    ...rest,
    state: 'following',
    watch,
    ...(next === undefined ? {} : { continues: true, partlyDone: true, jobState: next }),
    ...(endsStep ? { endsStep } : {}),
  };
}

/** A target whose task is being cancelled. The task is followed to its end. */
function taskCancelRequested(target: TargetIn<'acting'>, now: number): Target {
  const { watch, ...rest } = withoutStepFields(target);
  if (!watch) return cancelled(target, 'cancelled', now);
  return { ...rest, state: 'following', watch, taskCancel: 'requested' };
}

/** A target whose step is done and left a state for the next step. */
const next = (target: TargetIn<'acting'>, jobState: string): TargetIn<'waiting'> => ({
  ...withoutStepFields(target),
  state: 'waiting',
  partlyDone: true,
  jobState,
});

/** A target whose followed work has ended, with any result: the job continues with its next step. */
export function continued(target: TargetIn<'following'>, { is, reason, detail }: End): TargetIn<'waiting'> {
  return {
    ...withoutWatch(target),
    state: 'waiting',
    ended: { is, reason, ...defined({ detail }) },
  };
}

/** A target of which a step of the policy is done: it is due for the next one. */
export function stepDone(
  target: TargetIn<'acting'> | TargetIn<'following'>,
  end: End,
  now: number,
  jobState = target.jobState,
): TargetIn<'waiting'> {
  const { taskId: _ofThisStep, ...rest } = withoutWatch(target);
  return {
    ...rest,
    state: 'waiting',
    partlyDone: true,
    ...defined({ jobState }),
    steps: [...(target.steps ?? []), stepEnd(end, target, now)],
  };
}

const stepEnd = ({ reason, detail, findings = [] }: End, { taskId }: Target, at: number): StepEnd => ({
  reason,
  ...defined({ detail }),
  at,
  ...defined({ taskId }),
  ...(findings.length === 0 ? {} : { findings: bounded(findings) }),
});

/** A target of a cancelled run whose task still runs in the service: the task must be cancelled too. */
export const cancelling = (target: TargetIn<'following'>): TargetIn<'waiting'> => ({
  ...target,
  state: 'waiting',
  taskCancel: 'due',
});

/** A target whose task was cancelled with its run. */
export const taskCancelled = (target: Target, now: number): TargetIn<'ended'> =>
  ended(target, 'cancelled', 'run-cancelled', 'Its task in the service was cancelled.', now);

/** A target without the fields that belong to its last step only. */
function withoutStepFields<T extends TargetIn<'acting'> | TargetIn<'following'>>(target: T) {
  const { state, intent, reason, detail, claimed, ended, lostAt, ...rest } = target as T & TargetIn<'acting'>;
  return { ...rest, waits: 0 };
}

/** The same, without what it followed. */
function withoutWatch(target: TargetIn<'acting'> | TargetIn<'following'>) {
  const { watch, continues, endsStep, taskCancel, ...rest } = withoutStepFields(target);
  return rest;
}

/**
 * A target with the outcome that an answer or a verdict gives it. When all steps of its policy are done, its
 * reason is that of the last step that had something to do.
 */
export function concluded(target: Target, end: End, now: number): TargetIn<'ended'> {
  const outcome = end.is === 'done' ? 'succeeded' : end.is;
  if (outcome !== 'succeeded' || !target.steps)
    return ended(target, outcome, end.reason, end.detail, now, end.findings);
  const steps = [...target.steps, stepEnd(end, target, now)];
  const { reason, detail } = steps.findLast((step) => step.reason !== 'already-done') ?? end;
  return ended({ ...target, steps }, outcome, reason, detail, now);
}

/** The end, or `skipped` for a rejection that the policy accepts. */
function accepted(end: End, { acceptRejections = [] }: Circumstances): End {
  const detail = end.detail?.toLowerCase() ?? '';
  const isAccepted = acceptRejections.some((text) => detail.includes(text.toLowerCase()));
  return end.is === 'failed' && end.reason === 'rejected' && isAccepted ? { ...end, is: 'skipped' } : end;
}

/** How many findings of a target are kept, and how many characters of each. Records are kept for months. */
const MAX_FINDINGS = 100;
const MAX_FINDING = 300;

function bounded(findings: readonly Finding[]): Finding[] {
  const kept = findings.slice(0, MAX_FINDINGS).map((finding) => {
    // Redacted before it is cut: half a secret is not recognised.
    const message = scrub(finding.message);
    return {
      ...finding,
      message: message.length > MAX_FINDING ? `${message.slice(0, MAX_FINDING)}…` : message,
    };
  });
  const more = findings.length - kept.length;
  return more === 0
    ? kept
    : [...kept, { severity: 'info', about: 'more', message: `${more} more findings were not kept.` }];
}

/**
 * A target with its outcome. Fields that are needed only before the end are dropped, because the record is
 * kept for months.
 */
export function ended(
  target: Target,
  outcome: Outcome,
  reason: Reason,
  detail: string | undefined,
  now: number,
  ownFindings: readonly Finding[] = [],
): TargetIn<'ended'> {
  const { id, label, site, recordSite, told, batch, changed, fence, attempts, waits, startedAt, taskId } =
    target;
  const { steps, ofStep, requests, moreRequests } = target;
  const findings = [...(steps ?? []).flatMap((step) => step.findings ?? []), ...ownFindings];
  return {
    ...{ id, label, fence, attempts, waits },
    ...defined({ site, recordSite, told, batch }),
    ...(changed ? { changed } : {}),
    ...defined({ startedAt, taskId }),
    state: 'ended',
    outcome,
    reason,
    finishedAt: now,
    ...defined({ detail }),
    ...(steps === undefined ? {} : { steps: steps.map(({ findings: _collected, ...step }) => step) }),
    ...defined({ ofStep, requests, moreRequests }),
    ...(findings.length === 0 ? {} : { findings: bounded(findings) }),
  };
}

/** A target on which no (more) work is done because its run was cancelled. */
export function cancelled(target: Target, ending: EndingReason, now: number): TargetIn<'ended'> {
  const reason = ending === 'cancelled' ? 'run-cancelled' : ending;
  const detail = target.partlyDone ? 'Some of its steps had already been done.' : undefined;
  return ended(target, 'cancelled', reason, detail, now);
}

/** A target whose intent says what was received in answer to its request, although that does not tell what happened. */
function withAnswer(target: TargetIn<'acting'>, error: unknown): TargetIn<'acting'> {
  const { intent } = target;
  if (!intent) return target;
  if (error instanceof UnreadableError) return { ...target, intent: { ...intent, confirmed: true } };
  const isAbout = error instanceof UnavailableError && error.operation === intent.operation;
  return isAbout && error.status !== undefined
    ? { ...target, intent: { ...intent, answered: error.status } }
    : target;
}

function decideError(claimed: TargetIn<'acting'>, error: unknown, circumstances: Circumstances): Decision {
  const { now } = circumstances;
  const target = withAnswer(claimed, error);
  if (error instanceof BudgetSpentError) return { target: waiting(target, {}), dueAt: error.until };
  if (error instanceof AccountRefusedError) {
    return { target: waiting(target, { detail: error.message }), dueAt: now, refused: error };
  }
  if (error instanceof ConflictError) {
    return wait(target, circumstances, { reason: 'conflict', detail: error.problem.message });
  }
  if (error instanceof GoneError) return { target: ended(target, 'skipped', 'gone', undefined, now) };
  if (error instanceof NotShownError) return { target: endedAsNotShown(target, error, now) };
  if (error instanceof UnavailableError && !error.sent) return outage(target, error, now);
  if (error instanceof UnavailableError || error instanceof ContractError) {
    return unavailable(target, error, circumstances);
  }
  // A final answer. With an intent still open, it was the reconcile that failed.
  if (error instanceof RejectedError || error instanceof InvalidInputError) {
    const detail = error instanceof RejectedError ? error.problem.message : error.message;
    const end: End = { is: 'failed', reason: target.intent ? 'unknown-effect' : 'rejected', detail };
    return { target: concluded(target, accepted(end, circumstances), now) };
  }
  // A job stores what it needs itself. Redis says nothing about the target.
  if (writeRefusal(error) !== undefined) return outage(target, error, now);
  // An unexpected error. With an intent open, the effect is reconciled before the target gets an outcome.
  if (target.intent) return { ...unavailable(target, error, circumstances), unexpected: error };
  return { target: ended(target, 'failed', 'internal', messageOf(error), now), unexpected: error };
}

/**
 * A decision needs a field that the service did not show, so nothing is done. With an intent still open, it
 * is unknown whether the effect happened.
 */
const endedAsNotShown = (target: Target, { message }: NotShownError, now: number): TargetIn<'ended'> =>
  target.intent
    ? ended(target, 'failed', 'unknown-effect', message, now)
    : ended(target, 'skipped', 'not-eligible', message, now);

/**
 * The request may have arrived. The intent stays, so that the next step reconciles before anything is sent
 * again. A failure during an outage counts as no attempt.
 */
function unavailable(target: TargetIn<'acting'>, error: unknown, circumstances: Circumstances): Decision {
  const { now, retry, countsAsAttempt } = circumstances;
  if (!countsAsAttempt) return outage(target, error, now);
  const attempts = target.attempts + 1;
  if (attempts >= retry.attempts && !target.intent) {
    return { target: ended({ ...target, attempts }, 'failed', 'unavailable', messageOf(error), now) };
  }
  return wait({ ...target, attempts }, circumstances, { detail: messageOf(error) });
}

/**
 * Waits without counting an attempt. Many targets may be due at the same time: during an outage `dispatch`
 * releases only one per run, to find out whether the outage is over.
 */
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
    ...defined({ reason, detail }),
  };
}
