/**
 * Planning without effects: what a policy would work on, and why everything else is excluded.
 *
 * Filters and sort are sent to the service. `where` and the job's `evaluate` are applied here to one
 * candidate after the other, so that a plan of any size needs the memory of one page. When a decision needs a
 * field that the list does not show, the single view of the candidate is requested. When that does not show
 * the field either, the candidate is recorded as skipped.
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
import { createJobApi, readOnlyCall, runContextOf } from '../job-api.ts';

/**
 * What the plan makes of a candidate: a target to work on, a target that has its outcome already, or an
 * excluded candidate.
 */
export type Planned =
  | { is: 'target'; id: string; label: string; site?: string; jobState?: string }
  | {
      is: 'ended';
      id: string;
      label: string;
      end: End;
      /** It was requested by its id, and the policy does not select it. */
      unselected?: true;
    }
  | { is: 'excluded'; id: string; label: string; why: string };

export interface Planning {
  policy: Policy;
  job: AnyJob;
  client: Client;
  /** The run retries the failed targets of an earlier run. */
  retry: boolean;
  /**
   * The ids of the only targets to plan, if given. A retry ignores what the policy selects now; any other run
   * plans only those of them that the policy selects.
   */
  only?: readonly string[] | undefined;
  now: number;
  /** The scheduled time of the run. */
  at: number;
  /** When planning of the policy's last whole run started. */
  previousAt?: number | undefined;
  /** The outcomes of the targets of its last whole runs. */
  earlier: () => AsyncGenerator<EarlierTarget>;
  once: Pick<Once, 'results'>;
  /** Whether a person or a run waits for the plan. */
  requestClass: 'person' | 'action';
  onRequest: (operation: OperationId) => void;
  /** Called with each item of the list, before it is evaluated. */
  onCandidate?: (candidate: unknown) => void;
  signal?: AbortSignal;
}

/** Bounds the state that a job keeps for a target. It is not meant to hold a site's whole record. */
const MAX_JOB_STATE_BYTES = 8_192;
/** Up to this many requested ids are looked up one by one. More are picked from the whole list. */
const MAX_LOOKUPS_BY_ID = 10;
/** How many single views a plan requests for candidates whose list does not show a field that decides. */
const MAX_SINGLE_VIEWS = 100;

/**
 * Yields what the plan makes of each candidate, in the order of the list, until it has `select.limit`
 * targets.
 *
 * Costs one request per 100 candidates that match the filters, or one per requested id; the requests of the
 * job's `prepare`; and one for each of the first 100 candidates whose list does not show a field that
 * decides.
 *
 * @throws the client's errors; and `ExpressionError` when `where` cannot be evaluated on a candidate.
 */
export async function* candidates(planning: Planning): AsyncGenerator<Planned> {
  const { policy, job, only } = planning;
  const limit = only ? undefined : policy.select.limit;
  const remaining = only && new Set(only);
  const evaluating = await prepareEvaluating(planning);
  const serviceNow = async () =>
    middleOf(await planning.client.serviceTime(planning.now, callOptionsOf(planning)));
  // Created after the first page, whose answer shows the service's time, so that asking for it costs no
  // request.
  let evaluate: ReturnType<typeof createEvaluator> | undefined;
  const identify = createIdentify(planning);
  let targets = 0;
  for await (const candidate of listCandidates(planning)) {
    planning.onCandidate?.(candidate);
    const named = identify(candidate);
    if (remaining && !remaining.delete(named.id)) continue;
    evaluate ??= createEvaluator(planning, { ...evaluating, serviceNow: await serviceNow() });
    const planned = plannedWithoutSecrets(await evaluate(candidate, named));
    yield planned;
    if (planned.is === 'target') targets += 1;
    if (targets === limit) break;
    if (remaining?.size === 0) return;
  }
  for (const planned of extraTargetsOf(job, { ...evaluating, serviceNow: await serviceNow() }))
    if (!remaining || remaining.delete(planned.id)) yield plannedWithoutSecrets(planned);
  // Every requested id is reported, also one that does not exist.
  for (const id of remaining ?? []) {
    const why = job.extraTargets
      ? 'It is not in the account, the policy does not select it, or the job has nothing to report about it.'
      : 'It is not in the account, or the policy does not select it.';
    yield { is: 'ended', id, label: id, end: notEligible(why), unselected: true };
  }
}

/**
 * Redacts labels and messages. A label is often the address of a site, and a job's message may repeat the
 * text of an error.
 */
function plannedWithoutSecrets(planned: Planned): Planned {
  const label = scrub(planned.label);
  if (planned.is === 'ended') return { ...planned, label, end: redact(planned.end) as End };
  if (planned.is === 'excluded') return { ...planned, label, why: scrub(planned.why) };
  return { ...planned, label };
}

function* extraTargetsOf(job: AnyJob, evaluating: Evaluating<unknown, unknown>): Generator<Planned> {
  for (const { id, label, site, ...evaluation } of job.extraTargets?.(evaluating) ?? []) {
    yield toPlanned(
      job,
      identityOf({ id, label, ...(site === undefined ? {} : { site }) }, false),
      evaluation,
    );
  }
}

/** The id and label of a target, and the site that no other run may work on at the same time. */
interface Identity {
  id: string;
  label: string;
  site?: string;
}

/** Identifies candidates as their job does. A candidate that is a site needs no `site` from the job. */
function createIdentify({ policy, job }: Planning): (candidate: unknown) => Identity {
  const areSites = candidatesOf(job, policy.select) === 'listSites';
  return (candidate) => identityOf(job.target(candidate as never), areSites);
}

function identityOf({ id, label, site }: Named, isSite: boolean): Identity {
  const held = site === undefined && isSite ? id : site;
  return { id, label, ...(typeof held === 'string' ? { site: held } : {}) };
}

/** Runs the job's `prepare`, and collects what its `evaluate` is given. */
async function prepareEvaluating(
  planning: Planning,
): Promise<Omit<Evaluating<unknown, unknown>, 'serviceNow'>> {
  const { policy, job, client, now, at, previousAt, earlier } = planning;
  const from = candidatesOf(job, policy.select);
  const shared = { options: policy.options, from, runContext: runContextOf(policy, at), now };
  const { retry } = planning;
  if (!job.prepare) return { ...shared, retry, prepared: undefined };
  const options = callOptionsOf(planning);
  const reading = createJobApi(client, options, readOnlyCall(client, options));
  const prepared: unknown = await job.prepare({
    ...reading,
    ...shared,
    earlier,
    once: planning.once,
    ...(previousAt === undefined ? {} : { previousAt }),
  });
  return { ...shared, retry, prepared };
}

/** Whether the requested targets are planned whatever the policy selects now. */
const takesAll = ({ job, only, retry }: Planning): boolean =>
  only !== undefined && retry && !job.reportsSelection;

/** Creates the function that evaluates one candidate. A requested id is never excluded without an outcome. */
function createEvaluator(planning: Planning, evaluating: Evaluating<unknown, unknown>) {
  const { policy, job, only } = planning;
  const { where } = policy.select;
  const condition =
    where === undefined || takesAll(planning) ? undefined : compileWhereOf(job, policy.select, where);
  const subject = candidateLists[candidatesOf(job, policy.select)];
  const evaluatedAt = new Date(evaluating.serviceNow);
  const evaluateShown = (candidate: unknown): Evaluation<unknown> | NotShownError => {
    try {
      const related = condition && job.relate?.(candidate as never, evaluating.prepared);
      const holds = condition?.test({ ...related, [subject]: candidate }, evaluatedAt) ?? true;
      if (!holds) return { is: 'excluded', why: 'select.where does not hold' };
      return job.evaluate?.(candidate as never, evaluating) ?? { is: 'target' };
    } catch (error) {
      if (error instanceof NotShownError) return error;
      throw error;
    }
  };
  const complete = createCompleter(planning);
  return async (candidate: unknown, named: Identity): Promise<Planned> => {
    let evaluation = evaluateShown(candidate);
    if (evaluation instanceof NotShownError && evaluation.field.startsWith(`${subject}.`)) {
      evaluation = evaluateShown(await complete(candidate));
    }
    if (evaluation instanceof NotShownError)
      return toPlanned(job, named, { is: 'ineligible', why: evaluation.message });
    if (only && evaluation.is === 'excluded') {
      const detail = `${evaluation.why}.`;
      return job.reportsSelection
        ? { is: 'ended', ...named, end: { is: 'done', reason: 'done', detail } }
        : { is: 'ended', ...named, end: notEligible(detail), unselected: true };
    }
    return toPlanned(job, named, evaluation);
  };
}

/**
 * Creates the function that completes a candidate from its single view. One request per candidate, up to a
 * limit.
 */
function createCompleter(planning: Planning) {
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

function toPlanned(job: AnyJob, named: Identity, evaluation: Evaluation<unknown>): Planned {
  if (evaluation.is === 'ineligible') return { is: 'ended', ...named, end: notEligible(evaluation.why) };
  if (evaluation.is === 'ended') return { ...evaluation, ...named, end: explainEnd(job, evaluation.end) };
  if (evaluation.is !== 'target') return { ...evaluation, ...named };
  return { is: 'target', ...named, ...jobStateOf(job, evaluation.state) };
}

const notEligible = (detail: string): End => ({ is: 'skipped', reason: 'not-eligible', detail });

/**
 * A job's state as it is recorded.
 *
 * @throws {Error} when it is too large or does not match the schema that the job declares: an error in the
 * job.
 */
export function jobStateOf(job: AnyJob, jobState: unknown): { jobState?: string } {
  if (jobState === undefined) return {};
  if (!job.state) throw new Error(`The job ${job.name} gave a state, but does not declare one.`);
  const text = JSON.stringify(job.state.parse(jobState));
  if (text.length > MAX_JOB_STATE_BYTES)
    throw new Error(`The job ${job.name} gave a state larger than 8 KB.`);
  return { jobState: text };
}

/** The call options of all requests of a plan. */
export const callOptionsOf = ({ requestClass, onRequest, signal }: Planning): CallOptions => ({
  requestClass,
  onRequest,
  ...(signal ? { signal } : {}),
});

async function* listCandidates(planning: Planning): AsyncGenerator<unknown> {
  const { policy, job, client, only } = planning;
  const { sort, timezone } = policy.select;
  const filters = takesAll(planning) ? {} : policy.select.filters;
  const id = candidatesOf(job, policy.select);
  const call = (query: object) => client.call(id, query as Input<typeof id>, callOptionsOf(planning));
  const sortQuery = { ...(sort ? { sort } : {}), ...(timezone ? { timezone } : {}) };
  const byId = operationOf(id).list?.filters['id']?.operators.includes('eq') === true;
  // A policy that filters by id keeps its own filter.
  if (only && only.length <= MAX_LOOKUPS_BY_ID && byId && !filters['id']) {
    for (const one of only) {
      yield* allItems(id, (page) =>
        call({ ...sortQuery, ...page, filters: { ...filters, id: { eq: one } } }),
      );
    }
    return;
  }
  // Some lists do not accept `filters` at all, not even an empty object.
  const filtered = Object.keys(filters).length > 0 ? { ...sortQuery, filters } : sortQuery;
  yield* allItems(id, (page) => call({ ...filtered, ...page }));
}

/**
 * How many items the job's list has without the policy's filters: the total for `limits.max_percent`. Usually
 * costs one request.
 */
export function countAll(planning: Planning): Promise<number> {
  const id = candidatesOf(planning.job, planning.policy.select);
  return countItems(id, (page) =>
    planning.client.call(id, page as Input<typeof id>, callOptionsOf(planning)),
  );
}
