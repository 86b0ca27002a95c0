/**
 * Planning without effects: what a policy would work on, and why everything else is left out.
 *
 * Filters and sort go to the service; `where` and the job's own eligibility are judged here, candidate by
 * candidate, so that a plan of any size passes through memory a page at a time. What the list does not show
 * of a candidate decides nothing: its single view is asked, and when that is silent too, the candidate is
 * recorded as skipped.
 */
import type { CallOptions } from '../../client/call-options.ts';
import type { Client } from '../../client/client.ts';
import { GoneError, RejectedError } from '../../client/errors.ts';
import { allItems, countItems } from '../../client/pages.ts';
import { middleOf } from '../../clock.ts';
import type { Input, OperationId } from '../../contract/operations.ts';
import { operationOf } from '../../contract/operations.ts';
import { NotShownError } from '../../expression/not-shown.ts';
import type { End } from '../../job/answer.ts';
import { candidateLists, candidatesOf, singleViewOf } from '../../job/candidates.ts';
import { fieldsOfItem } from '../../job/fields.ts';
import type { AnyJob, EarlierTarget, Evaluating, Evaluation, Named, Once } from '../../job/job.ts';
import { completed } from '../../job/shown.ts';
import type { Policy } from '../../policy/policy.ts';
import { compileWhereOf } from '../../policy/where.ts';
import { redact, scrub } from '../../secrets.ts';
import { explainEnd } from '../explain-end.ts';
import { readingOf, readOnly, runContextOf } from '../job-api.ts';

/** One candidate and what the plan makes of it: a target, one whose outcome is known already, or none. */
export type Planned =
  | { is: 'target'; id: string; label: string; site?: string; jobState?: string }
  | {
      is: 'settled';
      id: string;
      label: string;
      end: End;
      /** It was asked for by name, and is not among what the policy selects. */
      unselected?: true;
    }
  | { is: 'excluded'; id: string; label: string; why: string };

export interface Planning {
  policy: Policy;
  job: AnyJob;
  client: Client;
  /** Somebody asked to do again what failed in an earlier run. */
  retry: boolean;
  /**
   * Only these targets, when given: for a retry whatever the policy selects by now, else among what it
   * selects.
   */
  only?: readonly string[] | undefined;
  now: number;
  /** The moment the run is for. */
  at: number;
  /** When the policy's last whole run began to plan. */
  previousAt?: number | undefined;
  /** What became of the targets of its last whole runs. */
  earlier: () => AsyncGenerator<EarlierTarget>;
  once: Pick<Once, 'results'>;
  /** Whether a person waits for it or a run does. */
  requestClass: 'person' | 'action';
  onRequest: (operation: OperationId) => void;
  /** Told of each item that the list gives, before it is judged. */
  onCandidate?: (candidate: unknown) => void;
  signal?: AbortSignal;
}

/** What a job keeps of a target is no place for a site's whole record. */
const MAX_JOB_STATE_BYTES = 8_192;
/**
 * Up to so many targets asked for by name are looked up one by one; more are picked out of the whole list.
 */
const FEW = 10;
/** So many candidates of a plan are asked for alone because the list does not show what decides on them. */
const MAX_SINGLE_VIEWS = 100;

/**
 * Goes through the candidates in the order asked for, until `select.limit` targets are found.
 *
 * Costs one request per 100 candidates that the filters let through, or one per target asked for by name;
 * what the job prepares with costs; and one for each of the first 100 candidates of which the list does not
 * show what decides on them.
 *
 * @throws the client's errors; and `ExpressionError` when `where` cannot be evaluated on a candidate.
 */
export async function* candidates(planning: Planning): AsyncGenerator<Planned> {
  const { policy, job, only } = planning;
  const limit = only ? undefined : policy.select.limit;
  const wanted = only && new Set(only);
  const evaluating = await judgingOf(planning);
  const serviceNow = async () =>
    middleOf(await planning.client.serviceTime(planning.now, callOptionsOf(planning)));
  // Asked when the first page is there, which has shown the service's time: it costs no request then.
  let judge: ReturnType<typeof judgeOf> | undefined;
  const nameOf = namerOf(planning);
  let found = 0;
  for await (const candidate of listed(planning)) {
    planning.onCandidate?.(candidate);
    const named = nameOf(candidate);
    if (wanted && !wanted.delete(named.id)) continue;
    judge ??= judgeOf(planning, { ...evaluating, serviceNow: await serviceNow() });
    const planned = withoutSecrets(await judge(candidate, named));
    yield planned;
    if (planned.is === 'target') found += 1;
    if (found === limit) break;
    if (wanted?.size === 0) return;
  }
  for (const planned of besides(job, { ...evaluating, serviceNow: await serviceNow() }))
    if (!wanted || wanted.delete(planned.id)) yield withoutSecrets(planned);
  // Whoever asks for a target by name is told what became of it, even when there is no such thing.
  for (const id of wanted ?? []) {
    const why = job.extraTargets
      ? 'It is not in the account, the policy does not select it, or there is nothing to report about it.'
      : 'It is not in the account, or not among what the policy selects.';
    yield { is: 'settled', id, label: id, end: notEligible(why), unselected: true };
  }
}

/**
 * Labels are the sites' own addresses as often as not, and what a job says of a candidate may repeat what an
 * error says.
 */
function withoutSecrets(planned: Planned): Planned {
  const label = scrub(planned.label);
  if (planned.is === 'settled') return { ...planned, label, end: redact(planned.end) as End };
  if (planned.is === 'excluded') return { ...planned, label, why: scrub(planned.why) };
  return { ...planned, label };
}

function* besides(job: AnyJob, evaluating: Evaluating<unknown, unknown>): Generator<Planned> {
  for (const { id, label, site, ...evaluation } of job.extraTargets?.(evaluating) ?? []) {
    yield plannedAs(job, planable({ id, label, ...(site === undefined ? {} : { site }) }, false), evaluation);
  }
}

/** A target's id, label, and the site that nobody else may be at work on meanwhile. */
interface Planable {
  id: string;
  label: string;
  site?: string;
}

/** Names candidates as their job does; what is a site is its own. */
function namerOf({ policy, job }: Planning): (candidate: unknown) => Planable {
  const areSites = candidatesOf(job, policy.select) === 'listSites';
  return (candidate) => planable(job.target(candidate as never), areSites);
}

function planable({ id, label, site }: Named, isSite: boolean): Planable {
  const held = site === undefined && isSite ? id : site;
  return { id, label, ...(typeof held === 'string' ? { site: held } : {}) };
}

/** What the job goes by when it evaluates candidates: what it prepares is made here. */
async function judgingOf(planning: Planning): Promise<Omit<Evaluating<unknown, unknown>, 'serviceNow'>> {
  const { policy, job, client, now, at, previousAt, earlier } = planning;
  const from = candidatesOf(job, policy.select);
  const facts = { options: policy.options, from, runContext: runContextOf(policy, at), now };
  const { retry } = planning;
  if (!job.prepare) return { ...facts, retry, prepared: undefined };
  const options = callOptionsOf(planning);
  const reading = readingOf(client, options, readOnly(client, options));
  const prepared: unknown = await job.prepare({
    ...reading,
    ...facts,
    earlier,
    once: planning.once,
    ...(previousAt === undefined ? {} : { previousAt }),
  });
  return { ...facts, retry, prepared };
}

/** Whether the targets asked for are taken whatever the policy selects by now. */
const takesAll = ({ job, only, retry }: Planning): boolean =>
  only !== undefined && retry && !job.reportsSelection;

/** What the plan makes of a candidate. One that was asked for by name is never silently left out. */
function judgeOf(planning: Planning, evaluating: Evaluating<unknown, unknown>) {
  const { policy, job, only } = planning;
  const { where } = policy.select;
  const condition =
    where === undefined || takesAll(planning) ? undefined : compileWhereOf(job, policy.select, where);
  const subject = candidateLists[candidatesOf(job, policy.select)];
  const moment = new Date(evaluating.serviceNow);
  const asShown = (candidate: unknown): Evaluation<unknown> | NotShownError => {
    try {
      const related = condition && job.relate?.(candidate as never, evaluating.prepared);
      const holds = condition?.test({ ...related, [subject]: candidate }, moment) ?? true;
      if (!holds) return { is: 'excluded', why: 'select.where does not hold' };
      return job.evaluate?.(candidate as never, evaluating) ?? { is: 'target' };
    } catch (error) {
      if (error instanceof NotShownError) return error;
      throw error;
    }
  };
  const complete = completerOf(planning);
  return async (candidate: unknown, named: Planable): Promise<Planned> => {
    let evaluation = asShown(candidate);
    if (evaluation instanceof NotShownError && evaluation.field.startsWith(`${subject}.`)) {
      evaluation = asShown(await complete(candidate));
    }
    if (evaluation instanceof NotShownError)
      return plannedAs(job, named, { is: 'ineligible', why: evaluation.message });
    if (only && evaluation.is === 'excluded') {
      const detail = `${evaluation.why}.`;
      return job.reportsSelection
        ? { is: 'settled', ...named, end: { is: 'done', reason: 'done', detail } }
        : { is: 'settled', ...named, end: notEligible(detail), unselected: true };
    }
    return plannedAs(job, named, evaluation);
  };
}

/**
 * Completes candidates of which the list does not show everything from their single views. One request each,
 * up to a limit.
 */
function completerOf(planning: Planning) {
  const list = candidatesOf(planning.job, planning.policy.select);
  const view = singleViewOf(list);
  let left = MAX_SINGLE_VIEWS;
  return async (candidate: unknown): Promise<unknown> => {
    const { id } = candidate as { id?: unknown };
    if (!view || typeof id !== 'string' || left === 0) return candidate;
    left -= 1;
    try {
      const input = { [view.parameter]: id } as never;
      const answer: unknown = await planning.client.call(view.operation, input, callOptionsOf(planning));
      return completed(fieldsOfItem(list), candidate, Object.values(answer as object)[0]);
    } catch (error) {
      if (error instanceof GoneError || error instanceof RejectedError) return candidate;
      throw error;
    }
  };
}

function plannedAs(job: AnyJob, named: Planable, evaluation: Evaluation<unknown>): Planned {
  if (evaluation.is === 'ineligible') return { is: 'settled', ...named, end: notEligible(evaluation.why) };
  if (evaluation.is === 'settled') return { ...evaluation, ...named, end: explainEnd(job, evaluation.end) };
  if (evaluation.is !== 'target') return { ...evaluation, ...named };
  return { is: 'target', ...named, ...jobStateOf(job, evaluation.state) };
}

const notEligible = (detail: string): End => ({ is: 'skipped', reason: 'not-eligible', detail });

/**
 * A job's state as it is recorded.
 *
 * @throws {Error} when it is larger than may be, or not what the job declared: a mistake in the job.
 */
export function jobStateOf(job: AnyJob, jobState: unknown): { jobState?: string } {
  if (jobState === undefined) return {};
  if (!job.state) throw new Error(`The job ${job.name} declares no state, but gave one.`);
  const text = JSON.stringify(job.state.parse(jobState));
  if (text.length > MAX_JOB_STATE_BYTES)
    throw new Error(`The state that the job ${job.name} is larger than 8 KB.`);
  return { jobState: text };
}

/** How planning calls the service. */
export const callOptionsOf = ({ requestClass, onRequest, signal }: Planning): CallOptions => ({
  requestClass,
  onRequest,
  ...(signal ? { signal } : {}),
});

async function* listed(planning: Planning): AsyncGenerator<unknown> {
  const { policy, job, client, only } = planning;
  const { sort, timezone } = policy.select;
  const filters = takesAll(planning) ? {} : policy.select.filters;
  const id = candidatesOf(job, policy.select);
  const call = (query: object) => client.call(id, query as Input<typeof id>, callOptionsOf(planning));
  const asked = { ...(sort ? { sort } : {}), ...(timezone ? { timezone } : {}) };
  const byId = operationOf(id).list?.filters['id']?.operators.includes('eq') === true;
  // A policy that filters by id itself selects no other.
  if (only && only.length <= FEW && byId && !filters['id']) {
    for (const one of only) {
      yield* allItems(id, (page) => call({ ...asked, ...page, filters: { ...filters, id: { eq: one } } }));
    }
    return;
  }
  // Some lists take no filters, not even none.
  const filtered = Object.keys(filters).length > 0 ? { ...asked, filters } : asked;
  yield* allItems(id, (page) => call({ ...filtered, ...page }));
}

/**
 * How many items the job's list has in all, whatever the policy's filters: what `limits.max_percent` is a
 * share of. Costs one request as a rule.
 */
export function countAll(planning: Planning): Promise<number> {
  const id = candidatesOf(planning.job, planning.policy.select);
  return countItems(id, (page) =>
    planning.client.call(id, page as Input<typeof id>, callOptionsOf(planning)),
  );
}
