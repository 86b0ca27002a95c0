/**
 * What a job says about a change that cannot be undone, directly before it is made: whether the target is still what
 * the plan decided about. The engine reads the items of many targets with few requests; see
 * `engine/act/verifier.ts`.
 */

import type { OperationId } from '../contract/operations.ts';
import { isDestructive } from '../contract/operations.ts';
import type { Items, JobApi, RunContext } from './api.ts';
import type { Source } from './source.ts';

/** A target whose change is about to be made, with the state that its last step left. */
export interface Verified<State> {
  id: string;
  /** The step of the policy that it is at, from 0; 0 for a policy without steps. */
  step: number;
  state: State;
}

export interface Verifying<Options, State> extends JobApi {
  options: Options;
  source: Source;
  runContext: RunContext;
  /** The time that the plan was made at, by the service's clock: what is made of the items is made as of that time. */
  plannedAt: number;
  targets: readonly Verified<State>[];
  /** Whether the condition of the policy uses the items that the job relates to a candidate. */
  usesRelated: boolean;
}

export interface Verification<State> {
  /** `differs` needs the item of the target. Without it, items are read only where the policy selects by them. */
  readsItems?: boolean;
  /** Whether the target only takes back what an earlier run did: it is no item of the list. */
  takesBack?(target: Verified<State>): boolean;
  /** The related items of a candidate, as `relate` of the job gives them while planning. */
  relate?(candidate: unknown): Items;
  /**
   * What differs from what the change of the target rests on; undefined when nothing does. `items`: the item of the
   * target and what belongs to it; missing when no item was read. Costs no request.
   *
   * @throws {NotShownError} when a field that decides is not shown.
   */
  differs(target: Verified<State>, items: Items | undefined): string | undefined;
}

/** The part of a job that says what it calls. */
interface Calling {
  changes?(options: never): readonly OperationId[];
  verified?(options: never): readonly OperationId[];
}

/** The operations of a job that are verified: those that it names, else those that are destructive. */
export function verifiedOperations(
  { changes, verified }: Calling,
  options: unknown,
): readonly OperationId[] | 'all' {
  if (verified) return verified(options as never);
  return changes ? changes(options as never).filter(isDestructive) : 'all';
}
