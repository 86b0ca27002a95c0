/** What a job answers about one target. */
import type { Reason } from '../run/reasons.ts';
import type { Finding, Watch } from '../run/run.ts';

/** How a target ended. Findings are what a person should know besides the reason, one line each. */
export type End = {
  is: 'done' | 'skipped' | 'failed';
  reason: Reason;
  detail?: string;
  findings?: readonly Finding[];
};

/** What one step on one target found out; the engine alone decides what follows from it. */
export type Answer<State = unknown> =
  | End
  /**
   * Work has started in the service: learn what becomes of it. No slot is held meanwhile. With `next`, the
   * next step begins with that state when the work has ended, however it did; without, its end is the
   * target's.
   */
  | { is: 'following'; watch: Watch; next?: State }
  /** This step's result is in the state: go on with the next. */
  | { is: 'next'; state: State }
  /** Nothing can be done for now, through no fault of the target: come back later, no attempt is used up. */
  | { is: 'waiting'; reason: Reason; detail?: string; until?: number };

/** What a reconcile can find besides an answer: the effect provably did not happen, or nobody can tell. */
export type Reconciled<State = unknown> =
  | Answer<State>
  | { is: 'absent' }
  | { is: 'unknown'; detail?: string };
