/** The answers that a job gives about one target. */
import type { Reason } from '../run/reasons.ts';
import type { Finding, Watch } from '../run/run.ts';

/** How a target ended. Findings are what a person should know in addition to the reason, one line each. */
export type End = {
  is: 'done' | 'skipped' | 'failed';
  reason: Reason;
  detail?: string;
  findings?: readonly Finding[];
};

/** The result of one step on one target. The engine decides what follows from it. */
export type Answer<State = unknown> =
  | End
  /**
   * Work has started in the service and is to be followed. No slot is held meanwhile. With `next`, the next
   * step starts with that state when the work has ended, with any result. Without it, the end of the work is
   * the end of the target.
   */
  | { is: 'following'; watch: Watch; next?: State }
  /** This step is done and its result is in the state: continue with the next step. */
  | { is: 'next'; state: State }
  /** Nothing can be done now, but not because of a failure: try again later, without counting an attempt. */
  | { is: 'waiting'; reason: Reason; detail?: string; until?: number };

/**
 * What a reconcile can find other than an answer: the effect provably did not happen, or it is unknown whether
 * it did.
 */
export type Reconciled<State = unknown> =
  | Answer<State>
  | { is: 'absent' }
  | { is: 'unknown'; detail?: string };

/** What else a policy with several steps answers (`steps.ts`). */
export type StepAnswer<State = unknown> =
  | Exclude<Answer<State>, { is: 'following' }>
  /** `endsStep`: the end of the work is the end of a step of the policy. If it was done, the next one starts. */
  | { is: 'following'; watch: Watch; next?: State; endsStep?: true }
  /** A step of the policy is done, and not the last one: continue with the next. */
  | { is: 'step-done'; end: End; state: State };
