/**
 * What a file in `jobs/` is written against: a kind of work as data and a few functions.
 *
 * A job says what it works on (`candidates`, `evaluate`, `extraTargets`), what it does to one target (`act`)
 * and how a lost answer is cleared up (`reconcile`). When and how often these run, what is written before and
 * after, and what follows from an answer is the engine's business alone.
 *
 * Work on a target goes in steps. A step is one call of `act`, has one effect at most, and ends in an answer:
 * an outcome, something to follow or wait for, or the next step. What a later step has to know stands in the
 * target's state, which is written together with the answer; nothing else is remembered.
 */

import type { z } from 'zod';
import type { Item, OperationId } from '../contract/operations.ts';
import type { Reason, ReasonInfo } from '../run/reasons.ts';
import type { Finding, Intent, Outcome } from '../run/run.ts';
import type { Answer, End, Reconciled } from './answer.ts';
import type { JobApi } from './api.ts';
import type { AnyItem, CandidateList } from './candidates.ts';
import type { AnyWatchKind } from './watch/watch.ts';

export type { Reason } from '../run/reasons.ts';
export type { Finding, Intent, Watch } from '../run/run.ts';

/** What a run is for, as far as it matters for the work. */
export interface RunContext {
  policy: string;
  /** The moment the run is for, in milliseconds since 1970: periods such as last month count from it. */
  at: number;
  /** The policy's time zone (`schedule.timezone`). */
  timezone: string;
}

/** Something wrong with options that their schema alone cannot see; placed in the policy's file. */
export interface OptionFault {
  /** Where, from `with` on: `['params', 'site_id']`. */
  path: readonly (string | number)[];
  message: string;
  suggestion?: string | undefined;
  /** How many characters into the text that stands there. */
  offset?: number;
  /** Whether the key is at fault rather than what stands under it. */
  at?: 'key' | 'value';
}

/** What of a policy its job's options may not contradict. */
export interface CheckedPolicy {
  /** The list that the candidates come from. */
  from: CandidateList;
  /** How long one target may take (`timeout.target`), in milliseconds. */
  targetMs: number;
}

export interface Preparing<Options> extends JobApi {
  once: Pick<Once, 'results'>;
  options: Options;
  /** The list that the candidates come from. */
  from: CandidateList;
  runContext: RunContext;
  /** When the policy's last whole run before this one began to plan; nothing when there was none. */
  previousAt?: number;
  /**
   * What became of the targets of the policy's earlier whole runs, newest run first; for a retry, of those
   * before the run it does again. From our records: costs no request.
   */
  earlier(): AsyncGenerator<EarlierTarget>;
  /** The moment of planning, in milliseconds since 1970. */
  now: number;
}

/** A target of an earlier run of the same policy. */
export interface EarlierTarget {
  /** When that run began to plan. */
  at: number;
  id: string;
  outcome?: Outcome;
  reason?: Reason;
  findings: readonly Finding[];
}

export interface Evaluating<Options, Prepared> {
  options: Options;
  /** The list that the candidates come from. */
  from: CandidateList;
  /** Whether somebody asked to do again what failed in an earlier run (`runs retry`). */
  retry: boolean;
  runContext: RunContext;
  prepared: Prepared;
  now: number;
  /** The same by the service's clock, to about a second: what ages of the service's timestamps count from. */
  serviceNow: number;
}

export interface Named {
  id: string;
  label: string;
  site?: string | null;
}

/** What the plan makes of a candidate. */
export type Evaluation<State> =
  | { is: 'target'; state?: State }
  /** Recorded as skipped, `not-eligible`, without costing a request. */
  | { is: 'ineligible'; why: string }
  /** Recorded with this outcome, without costing a request: planning has seen all there is to see. */
  | { is: 'ended'; end: End }
  /** Not part of the plan. */
  | { is: 'excluded'; why: string };

/** A target that is no item of the candidates' list. */
export type ExtraTarget<State> = Named & Evaluation<State>;

/**
 * Whose an effect in the account is: an effect that belongs to another target is never taken for this one's.
 */
export interface Effects {
  /** Makes what the operation brought about, by its id, this target's. False when it is another's. */
  claim(operation: OperationId, id: string): Promise<boolean>;
  /** Whether it is another target's. */
  belongsToOther(operation: OperationId, id: string): Promise<boolean>;
}

/** Who holds a key of `Once`. */
export interface Holder {
  isOurs: boolean;
  run: string;
  target: string;
  /** When it was claimed, or last claimed again by its holder. */
  at: number;
  /** When the holder's work on its target ended; nothing while it goes on. */
  endedAt?: number;
  /** What came of it, as its holder wrote it down. */
  result?: string;
}

/**
 * What no two targets may do, whichever run they are of: each thing goes by a key of the job's own, kept for
 * 100 days.
 */
export interface Once {
  /** Makes the key this target's, unless another holds it that is not `instead`. Gives who holds it then. */
  claim(key: string, instead?: Holder): Promise<Holder>;
  /** Writes down what came of it, where this target holds the key. */
  note(key: string, result: string): Promise<void>;
  /** Who holds the key; nothing when nobody does. */
  holder(key: string): Promise<Holder | undefined>;
  /** What came of each of these keys. */
  results(keys: readonly string[]): Promise<(string | undefined)[]>;
}

export interface Acting<Options, State = unknown> extends JobApi {
  effects: Effects;
  once: Once;
  target: { id: string; label: string };
  options: Options;
  runContext: RunContext;
  /** What the plan or the step before left for this one, if it left anything. */
  state: State | undefined;
  /** How the followed work ended that this step comes after. */
  ended?: End;
  /** The moment this step began, in milliseconds since 1970. */
  now: number;
}

export interface Job<
  Options = unknown,
  List extends CandidateList | 'any' = CandidateList,
  State = unknown,
  Prepared = unknown,
> {
  /** kebab-case; the file in `jobs/` has the same name. */
  name: string;
  /** One sentence for `caretaker` and the docs. */
  summary: string;
  /**
   * The reasons that this job gives besides those of `run/reasons.ts`, in kebab-case. Two jobs may not
   * declare the same.
   */
  reasons?: Readonly<Record<string, ReasonInfo>>;
  /** What `with:` in a policy may hold, read strictly when the policy is loaded. */
  options: z.ZodType<Options>;
  /**
   * What is wrong with options that this schema took, given the rest of their policy. Asked when a policy is
   * loaded.
   */
  check?(options: Options, policy: CheckedPolicy): readonly OptionFault[];
  /**
   * The list operation whose items are the candidates; its filters and sorts are what `select` takes. `any`:
   * the policy names it in `select.from`.
   */
  candidates: List;
  /** Lists whose items `select.where` may speak of besides; `relate` finds them for a candidate. */
  related?: readonly CandidateList[];
  /** What a target remembers from step to step: JSON of at most 8 KB, without secrets. None when left out. */
  state?: z.ZodType<State>;
  /**
   * The identity under which a candidate is planned and recorded, the label a person knows it by, and the
   * site that the work changes: two runs are never at work on one site at once. Candidates that are sites
   * need not say theirs; null: none, the work leaves its site as it is, and others may be at work on it
   * meanwhile.
   */
  target(candidate: ItemOf<List>): Named;
  /**
   * What of the account must be known to judge candidates. Asked once a plan. Only reads; its cost belongs to
   * planning.
   */
  prepare?(preparing: Preparing<Options>): Promise<Prepared>;
  /** The related items of a candidate, by the names that conditions use. */
  relate?(candidate: ItemOf<List>, prepared: Prepared): Record<string, unknown>;
  /** Whether a candidate becomes a target. Every one does when left out. Costs no request. */
  evaluate?(candidate: ItemOf<List>, evaluating: Evaluating<Options, Prepared>): Evaluation<State>;
  /**
   * What `select` lets through is what the job reports. So a retry applies the filters and the condition again,
   * and a target that was asked for by name and is not selected has nothing to report: it is `done`.
   */
  reportsSelection?: true;
  /** Targets besides the candidates; `select` has no say in them. */
  extraTargets?(evaluating: Evaluating<Options, Prepared>): Iterable<ExtraTarget<State>>;
  /**
   * The ids of those among them that stand for all there is to do: a retry then goes over the whole selection
   * again.
   */
  aggregateIds?: readonly string[];
  /** Requests one target usually costs, besides following; `plan` predicts with it. */
  requestsPerTarget: number | ((options: Options) => number);
  /** Kinds of work in the service that this job follows besides tasks and syncs. */
  watches?: readonly AnyWatchKind[];
  /** Does one step of the work on one target. */
  act(acting: Acting<Options, State>): Promise<Answer<State>>;
  /** Finds out whether the effect of an intent without a result happened. Only reads. */
  reconcile(acting: Acting<Options, State>, intent: Intent): Promise<Reconciled<State>>;
}

export type ItemOf<List extends CandidateList | 'any'> = List extends CandidateList ? Item<List> : AnyItem;

/** Declares a job with its options, candidates, state and prepared typed from each other. */
export const defineJob = <
  Options,
  const List extends CandidateList | 'any',
  State = undefined,
  Prepared = undefined,
>(
  job: Job<Options, List, State, Prepared>,
): Job<Options, List, State, Prepared> => job;

/** A job whose options and candidates the reader does not know: what the registry hands out. */
// biome-ignore lint/suspicious/noExplicitAny: a registry of jobs is heterogeneous; options are parsed by the job's own schema.
export type AnyJob = Job<any, any, any, any>;
