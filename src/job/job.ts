/**
 * What a file in `jobs/` is written against: a kind of work as data and a few functions.
 *
 * A job declares what it works on (`candidates`, `evaluate`, `extraTargets`), what it does to one target
 * (`act`) and how a lost answer is reconciled (`reconcile`). The engine decides when and how often these run,
 * what is recorded before and after, and what follows from an answer.
 *
 * Work on a target goes in steps. A step is one call of `act`, has one effect at most, and ends in an answer:
 * an outcome, something to follow or wait for, or the next step. What a later step needs is in the target's
 * state, which is written together with the answer; nothing else is kept.
 *
 * A policy can name several jobs for the same targets, one after the other (`steps`). Then each of these jobs
 * works as it does alone: `steps.ts` makes one job of them.
 */

import type { z } from 'zod';
import type { Item, OperationId } from '../contract/operations.ts';
import type { IdReference, NamedReference } from '../contract/references.ts';
import type { Expression, Variables } from '../expression/expression.ts';
import type { Reason, ReasonInfo } from '../run/reasons.ts';
import type { Finding, Intent, Outcome, StepEnd } from '../run/run.ts';
import type { Answer, End, Reconciled, StepAnswer } from './answer.ts';
import type { Items, JobApi, RunContext } from './api.ts';
import type { AnyItem, CandidateList } from './candidates.ts';
import type { FindingsOf, Look, Looks } from './look.ts';
import type { Source } from './source.ts';
import type { Verification, Verifying } from './verify.ts';
import type { AnyWatchKind } from './watch/watch.ts';

export type { Reason } from '../run/reasons.ts';
export type { Finding, Intent, StepEnd, Watch } from '../run/run.ts';
export type { Items, RunContext } from './api.ts';

/** An error in options that their schema cannot detect. It is reported at its place in the policy's file. */
export interface OptionFault {
  /** Where, from `with` on: `['params', 'site_id']`. */
  path: readonly (string | number)[];
  message: string;
  suggestion?: string | undefined;
  /** The offset of the error in the text of that value. */
  offset?: number;
  /** Whether the key or its value has the error. */
  at?: 'key' | 'value';
  /** The keys of which one is missing. */
  missing?: readonly string[];
  /** Whether the JSON Schema of the options refuses it as well. */
  form?: boolean;
}

/** CEL in options. */
interface OptionExpression {
  /** From the options. */
  path: readonly (string | number)[];
  expression: Expression;
  /** Those that it may use. */
  variables: Variables;
}

/** The fields of a policy that its job's options are checked against. */
export interface CheckedPolicy {
  /** Where the candidates come from. */
  source: Source;
  /** How long one target may take (`timeout.target`), in milliseconds. */
  targetMs: number;
  /** The fields that `select.filters` names. */
  filters: readonly string[];
}

/** Another policy, as far as a job checks it. */
export interface OtherPolicy {
  name: string;
  account: string;
  /** Its job with its options; several for a policy with steps. */
  jobs: readonly { job: string; options: unknown }[];
}

/** Another policy that options name. */
export interface RequiredPolicy {
  /** Where, from `with` on. */
  path: readonly string[];
  policy: string;
  /** Why that policy is not what the job needs; undefined when it is. `own`: the policy with the options. */
  fault(
    other: OtherPolicy,
    own: Pick<OtherPolicy, 'account'>,
  ): { message: string; suggestion?: string | undefined } | undefined;
}

export interface Preparing<Options> extends JobApi {
  once: Pick<Once, 'results'>;
  announcements: Pick<OpenAnnouncements, 'all'>;
  looks: Pick<Looks, 'last'>;
  findingsOf: FindingsOf;
  options: Options;
  /** Where the candidates come from. */
  source: Source;
  /** The filters of `select`, as in a call of its list. */
  filters: Readonly<Record<string, object>>;
  runContext: RunContext;
  /** The step of the policy that is prepared, from 0; 0 for a policy without steps. */
  step: number;
  /** When planning of the policy's last whole run before this one started; undefined when there was none. */
  previousAt?: number;
  /**
   * The outcomes of the targets of the policy's earlier whole runs, newest run first. For a retry, of the
   * runs before the one that it retries. Read from our records: costs no request.
   */
  earlier(): AsyncGenerator<EarlierTarget>;
  /** The time of planning, in milliseconds since 1970. */
  now: number;
}

/** A target of an earlier run of the same policy. */
export interface EarlierTarget {
  /** When planning of that run started. */
  at: number;
  id: string;
  outcome?: Outcome;
  reason?: Reason;
  findings: readonly Finding[];
}

export interface Evaluating<Options, Prepared> {
  options: Options;
  /** Whether the run retries the failed targets of an earlier run (`runs retry`). */
  retry: boolean;
  /** In a retry: the steps of the policy that the failed run had done on this target. */
  stepsDone?: readonly StepEnd[];
  runContext: RunContext;
  prepared: Prepared;
  now: number;
  /**
   * The same by the service's clock, to about a second. Compute the age of the service's timestamps from it.
   */
  serviceNow: number;
}

export interface Named {
  id: string;
  label: string;
  site?: string | null;
}

/** What the plan makes of a candidate. */
export type Evaluation<State> =
  /** `plan`: what would be done, if that is not clear. `steps`: the steps of the policy that are done already. */
  | {
      is: 'target';
      state?: State;
      plan?: string;
      steps?: readonly StepEnd[];
      /**
       * It only takes back what an earlier run did, so the limits of the number of targets do not apply to it.
       */
      takesBack?: true;
      /** It is a target of this step of the policy alone, from 0. */
      step?: number;
    }
  /** Recorded as skipped, `not-eligible`, without costing a request. */
  | { is: 'ineligible'; why: string }
  /** Recorded with this outcome without a request: planning has seen everything that decides it. */
  | { is: 'ended'; end: End; steps?: readonly StepEnd[] }
  /** Not part of the plan. */
  | { is: 'excluded'; why: string };

/** What targets other than the candidates are found from. */
export interface EvaluatingExtra<Options, Prepared> extends Evaluating<Options, Prepared> {
  /**
   * Whether the plan has a target with this id, or may lack it because a list could not be read. Missing when the
   * plan does not cover everything that the policy selects.
   */
  isSelected?: (id: string) => boolean;
}

/** A target that is not an item of the candidates' list. */
export type ExtraTarget<State> = Named & Evaluation<State>;

/**
 * Which target an effect in the account belongs to. An effect of another target is never taken for this
 * target's effect.
 */
export interface Effects {
  /**
   * Records the effect of the operation with this id as this target's. False when it belongs to another
   * target.
   */
  claim(operation: OperationId, id: string): Promise<boolean>;
  /** Whether the effect belongs to another target. */
  belongsToOther(operation: OperationId, id: string): Promise<boolean>;
}

/** Who holds a key of `Once`. */
export interface Holder {
  isOurs: boolean;
  run: string;
  target: string;
  /** The step of its policy at which it claimed the key, from 0; missing for the first. */
  step?: number;
  /** When it was claimed, or last claimed again by its holder. */
  at: number;
  /** When the holder's target ended; undefined while it has not. */
  endedAt?: number;
  /** The reason of that end; undefined while it has not ended, and when its record was removed. */
  reason?: Reason;
  /** The result, as its holder recorded it. */
  result?: string;
}

/**
 * Keys that ensure that no two targets of any runs do the same thing. The job chooses the keys; each is kept
 * until no run has asked for it for 100 days.
 */
export interface Once {
  /**
   * Claims the key for this target, unless another target than `instead` holds it; if it is taken over, with this
   * `result`. Returns the holder after that.
   */
  claim(key: string, instead?: Holder, result?: string): Promise<Holder>;
  /** Records the result, if this target holds the key. */
  note(key: string, result: string): Promise<void>;
  /** The holder of the key; undefined when there is none. */
  holder(key: string): Promise<Holder | undefined>;
  /** The result of each of these keys. */
  results(keys: readonly string[]): Promise<(string | undefined)[]>;
}

/**
 * The announcements of a policy that are neither closed nor withdrawn, by their keys: see `grace/`. Kept until no
 * run of the policy has asked for them for 100 days.
 */
export interface OpenAnnouncements {
  /** Adds one, with what has to be known to withdraw it. */
  add(key: string, facts: string): Promise<void>;
  remove(key: string): Promise<void>;
  all(): Promise<ReadonlyMap<string, string>>;
}

export interface Acting<Options, State = unknown> extends JobApi {
  effects: Effects;
  once: Once;
  announcements: Pick<OpenAnnouncements, 'add' | 'remove'>;
  looks: Looks;
  findingsOf: FindingsOf;
  target: { id: string; label: string };
  options: Options;
  runContext: RunContext;
  /** The state that the plan or the step before left, if any. */
  state: State | undefined;
  /** The step of the policy that the target is at, from 0; 0 for a policy without steps. */
  step: number;
  /** How the followed work ended, when this step comes after it. */
  ended?: End;
  /** When this step started, in milliseconds since 1970. */
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
   * The reasons that this job gives in addition to those of `run/reasons.ts`, in kebab-case. Two jobs may not
   * declare the same.
   */
  reasons?: Readonly<Record<string, ReasonInfo>>;
  /** The schema of `with:` in a policy, parsed strictly when the policy is loaded. */
  options: z.ZodType<Options>;
  /**
   * The names in options whose schema does not show where ids are; see `reference` in `job/references.ts` for
   * all others. Paths start at the options.
   */
  names?(options: Options): readonly NamedReference[];
  /** The same for ids that the account has to have. */
  ids?(options: Options): readonly IdReference[];
  /** The CEL in options that decides what is done: what it names in the account has to be there. */
  expressions?(options: Options, source: Source): readonly OptionExpression[];
  /**
   * Checks options that match the schema against the rest of their policy. Called when a policy is loaded.
   */
  check?(options: Options, policy: CheckedPolicy): readonly OptionFault[];
  /** The other policies that options name. Checked when all policies are loaded. */
  requires?(options: Options): readonly RequiredPolicy[];
  /**
   * The list operation whose items are the candidates; its filters and sorts are what `select` takes. `any`:
   * the policy names it in `select.from`.
   */
  candidates: List;
  /**
   * It works on whole lists, and changes nothing in the account. Its candidate is the list that `select.from`
   * names, as `{ id: 'listTasks' }`; with `select.for_each`, each item of that list. The items of the list itself
   * are not read while planning.
   */
  takesLists?: true;
  /** Other lists whose items `select.where` may use; `relate` finds them for a candidate. */
  related?: readonly CandidateList[];
  /** What a target remembers from step to step: JSON of at most 8 KB, without secrets. None when left out. */
  state?: z.ZodType<State>;
  /**
   * The id under which a candidate is planned and recorded, the label that people know it by, and the site
   * that the work changes. Two runs never work on one site at the same time. A candidate that is a site does
   * not need `site`. `null`: the work does not change its site, and other runs may work on it meanwhile.
   */
  target(candidate: ItemOf<List>): Named;
  /**
   * Reads what is needed to evaluate candidates. Called once per plan. Only reads; its requests count as
   * planning.
   */
  prepare?(preparing: Preparing<Options>): Promise<Prepared>;
  /** What a run's planning saw, for people: kept until the next run of the policy has planned. */
  look?(prepared: Prepared): Look;
  /** The related items of a candidate, by the names that conditions use. */
  relate?(candidate: ItemOf<List>, prepared: Prepared): Record<string, unknown>;
  /**
   * Decides whether a candidate becomes a target. Without it every candidate does. `items` are the candidate and
   * what belongs to it, by the names of their variables. Costs no request.
   */
  evaluate?(
    candidate: ItemOf<List>,
    evaluating: Evaluating<Options, Prepared>,
    items: Items,
  ): Evaluation<State>;
  /**
   * What `select` lets through is what the job reports. So a retry applies the filters and the condition
   * again, and a target that was asked for by name and is not selected has nothing to report: it is `done`.
   */
  reportsSelection?: true;
  /**
   * Its findings of severity `info` are compared with those of earlier runs as well. By default only warnings
   * and errors are: the rest are remarks about a single run.
   */
  comparesInfo?: true;
  /** Targets other than the candidates; `select` does not apply to them. */
  extraTargets?(evaluating: EvaluatingExtra<Options, Prepared>): Iterable<ExtraTarget<State>>;
  /**
   * The ids of those among them that stand for all targets: when one of them failed, a retry covers the whole
   * selection.
   */
  aggregateIds?: readonly string[];
  /** The names of the policy's steps, when it has several: see `steps.ts`. */
  steps?: readonly string[];
  /** The requests that one target usually costs, without following; `plan` estimates with it. */
  requestsPerTarget: number | ((options: Options) => number);
  /**
   * The operations with an effect that `act` calls. Any other is refused. With `approval: { when: destructive }`, a
   * job that does not declare them counts as destructive.
   */
  changes?(options: Options): readonly OperationId[];
  /**
   * Those of them before which the target is looked at again (`recheck` of the policy). Default: those that are
   * destructive; all, for a job that does not declare what it calls.
   */
  verified?(options: Options): readonly OperationId[];
  /**
   * Reads again, for many targets at once, what their changes rest on in addition to the selection of the policy. Only
   * reads. Without it, the whole plan is made again for the targets that have begun nothing.
   */
  verify?(verifying: Verifying<Options, State>): Promise<Verification<State>>;
  /** Kinds of work in the service that this job follows in addition to tasks and syncs. */
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

// biome-ignore lint/suspicious/noExplicitAny: a registry of jobs is heterogeneous; options are parsed by the job's own schema.
type JobOfAny = Job<any, any, any, any>;

/**
 * A job whose options and candidates are not known here: as the registry returns it, or made of the steps of a
 * policy.
 */
export interface AnyJob extends Omit<JobOfAny, 'act' | 'reconcile'> {
  act(...given: Parameters<JobOfAny['act']>): Promise<StepAnswer>;
  reconcile(...given: Parameters<JobOfAny['reconcile']>): Promise<StepAnswer | Exclude<Reconciled, Answer>>;
}
