/**
 * What a file in `jobs/` is written against: a kind of work as data and two functions.
 *
 * A job says what it works on (`candidates`), what makes a candidate unfit (`unfit`), what it does to one target
 * (`act`) and how a lost answer is cleared up (`reconcile`). When and how often these run, what is written before
 * and after, and what follows from an answer is the engine's business alone.
 */
import type { z } from 'zod';
import type { Input, Item, ListId, OperationId, Answer as ServiceAnswer } from '../contract/operations.ts';
import type { Reason } from '../run/reasons.ts';
import type { Intent, Watch } from '../run/run.ts';

/** What one step on one target found out; the engine alone decides what follows from it. */
export type Answer =
  | { is: 'done'; reason: Extract<Reason, 'done' | 'already-done' | 'adopted'>; detail?: string }
  | { is: 'skipped'; reason: Reason; detail?: string }
  | { is: 'failed'; reason: Reason; detail?: string }
  /** Work has started in the service: learn what becomes of it. No slot is held meanwhile. */
  | { is: 'following'; watch: Watch }
  /** Nothing can be done for now, through no fault of the target: come back later, no attempt is used up. */
  | { is: 'waiting'; reason: Reason; detail?: string };

/** What a reconcile can find besides an answer: the effect provably did not happen, or nobody can tell. */
export type Reconciled = Answer | { is: 'absent' } | { is: 'unknown'; detail?: string };

/**
 * The service as a job sees it: every operation by its name.
 *
 * Before an operation with an effect is sent, its intent is recorded; one effect per `act`. Errors are the
 * client's typed errors: those a job has no answer for are the engine's to answer.
 */
export type Api = { [Id in OperationId]: (input: Input<Id>) => Promise<ServiceAnswer<Id>> };

export interface Acting<Options> {
  api: Api;
  target: { id: string; label: string };
  options: Options;
  /** The moment this step began, in milliseconds since 1970. */
  now: number;
}

export interface Job<Options = unknown, Id extends ListId = ListId> {
  /** kebab-case; the file in `jobs/` has the same name. */
  name: string;
  /** One sentence for `caretaker` and the docs. */
  summary: string;
  /** What `with:` in a policy may hold, read strictly when the policy is loaded. */
  options: z.ZodType<Options>;
  /** The list operation whose items are the candidates; its filters and sorts are what `select` takes. */
  candidates: Id;
  /** What one candidate is called in `select.where`: `site`. */
  subject: string;
  /** The identity under which a candidate is planned and recorded, and the label a person knows it by. */
  target(candidate: Item<Id>): { id: string; label: string };
  /** Why a candidate is not worked on, in a few words (`disconnected`); nothing when it is fit. Costs no request. */
  unfit?(candidate: Item<Id>, options: Options): string | undefined;
  /** Requests one target usually costs, besides following; `plan` predicts with it. */
  requestsPerTarget: number;
  /** Does the work on one target. */
  act(acting: Acting<Options>): Promise<Answer>;
  /** Finds out whether the effect of an intent without a result happened. Only reads. */
  reconcile(acting: Acting<Options>, intent: Intent): Promise<Reconciled>;
}

/** Declares a job with its options and candidates typed from each other. */
export const defineJob = <Options, const Id extends ListId>(job: Job<Options, Id>): Job<Options, Id> => job;

/** A job whose options and candidates the reader does not know: what the registry hands out. */
// biome-ignore lint/suspicious/noExplicitAny: a registry of jobs is heterogeneous; options are parsed by the job's own schema.
export type AnyJob = Job<any, any>;
