/**
 * Planning without effects: what a policy would work on, and why everything else is excluded.
 *
 * Filters and sort are sent to the service. `where` and the job's `evaluate` are applied here to one
 * candidate after the other, so that a plan of any size needs the memory of one page. When a decision needs a
 * field that the list does not show, the single view of the candidate is requested. When that does not show
 * the field either, the candidate is recorded as skipped.
 */
import { middleOf } from '../../clock.ts';
import { defined } from '../../defined.ts';
import { NotShownError, orNotShown } from '../../expression/fields.ts';
import type { End } from '../../job/answer.ts';
import { type CandidateSource, idWithin, isList, parentIdIn } from '../../job/candidates.ts';
import type { AnyJob, Evaluating, EvaluatingExtra, Evaluation, Items, Named } from '../../job/job.ts';
import { listDeclared, siteOfItem, sourceOf } from '../../job/source.ts';
import { compileParentWhere, compileWhereOf } from '../../policy/where.ts';
import { redact, scrub } from '../../secrets.ts';
import { explainEnd } from '../explain-end.ts';
import { createJobApi, readOnlyCall, runContextOf } from '../job-api.ts';
import { Reads } from './facts.ts';
import { Joined } from './joined.ts';
import {
  completeParent,
  type Listed,
  type ListingTools,
  listCandidates,
  type Parent,
  withinParent,
} from './listing.ts';
import { createOwners, frozenEnd, groupsOf, hasGroupLimits, type Owned, toldOf } from './owners.ts';
import {
  callOptionsOf,
  createCompleter,
  notEligible,
  type Planned,
  type Planning,
  takesAll,
} from './planning.ts';
import { Requested, whyUnlisted } from './requested.ts';

/** Bounds the state that a job keeps for a target. It is not meant to hold a site's whole record. */
const MAX_JOB_STATE_BYTES = 8_192;
/** The same for a policy with several steps: their states together, and the findings of planning. */
const MAX_STATE_OF_STEPS_BYTES = 65_536;
const WHERE_FAILS = 'select.where does not hold';

/**
 * Yields what the plan makes of each candidate, in the order of the list, until it has `select.limit`
 * targets. With `earlierPlan`, only what that one has not yielded.
 *
 * Costs the requests of `listCandidates`, `Joined.read` and of the job's `prepare`; and one for each of the first 100
 * candidates (`select.single_views`) whose list does not show a field that decides.
 *
 * @throws the client's errors; and `ExpressionError` when `where` cannot be evaluated on a candidate.
 */
export async function* candidates(planning: Planning): AsyncGenerator<Planned> {
  const { policy, job, only } = planning;
  const limit = only ? undefined : policy.select.limit;
  const requested = only && new Requested(only, planning.earlierPlan);
  const evaluating = await prepareEvaluating(planning);
  const joined = await Joined.read(planning);
  const tools = toolsOf(planning);
  const settle = createSettle(planning, tools);
  const serviceNow = async () => {
    const now = await tools.serviceNow();
    planning.onServiceNow?.(now);
    return now;
  };
  const selected = new Set(planning.earlierPlan?.selected);
  let targets = planning.earlierPlan?.targets ?? 0;
  const listing = { evaluating, joined, tools, settle, serviceNow, requested };
  for await (const planned of listedOnes(planning, listing)) {
    if (planned.is !== 'excluded') selected.add(planned.id);
    yield planned;
    if (planned.is === 'target') targets += 1;
    if (targets === limit) break;
    if (requested?.isComplete) break;
  }
  const isSelected = (id: string) => selected.has(id) || selected.has(parentIdIn(id) ?? '');
  const isWhole = !requested && (limit === undefined || targets < limit);
  const extra = { ...evaluating, serviceNow: await serviceNow(), ...(isWhole && { isSelected }) };
  for (const planned of extraTargetsOf(job, extra))
    if (!requested || requested.takes(planned) || isFaultOfAll(job, planned)) {
      const { site } = planned as { site?: string };
      yield plannedWithoutSecrets(await settle(planned, { site }));
    }
  if (requested) yield* requested.rest(job, await whyUnlisted(planning, requested.missing));
}

/** A failure that concerns every target, so also those that were requested alone. */
const isFaultOfAll = ({ aggregateIds = [] }: AnyJob, planned: Planned): boolean =>
  planned.is === 'ended' && planned.end.is === 'failed' && aggregateIds.includes(planned.id);

/** What evaluating the candidates of the list needs in addition to the plan. */
interface Listing {
  evaluating: Omit<Evaluating<unknown, unknown>, 'serviceNow'>;
  joined: Joined;
  tools: ListingTools;
  settle: ReturnType<typeof createSettle>;
  serviceNow: () => Promise<number>;
  requested: Requested | undefined;
}

/** What the plan makes of each candidate of the list. */
async function* listedOnes(
  planning: Planning,
  { evaluating, joined, tools, settle, serviceNow, requested }: Listing,
): AsyncGenerator<Planned> {
  // Created after the first page, whose answer shows the service's time, so that asking for it costs no
  // request.
  let evaluate: ReturnType<typeof createEvaluator> | undefined;
  const identify = createIdentify(planning);
  for await (const listed of listCandidates(planning, tools)) {
    if (listed.is !== 'candidate') {
      yield* plannedParent(listed, requested);
      continue;
    }
    const { item, parent } = listed;
    planning.onCandidate?.(item);
    const named = identify(item, parent);
    if (requested && !requested.takes(named, parent)) continue;
    evaluate ??= createEvaluator(planning, tools, joined, { ...evaluating, serviceNow: await serviceNow() });
    const evaluated = await evaluate(item, named, parent);
    yield plannedWithoutSecrets(await settle(evaluated, { item, parent, site: named.site }));
  }
}

/** Creates the function that ends targets of frozen clients and tags, and adds the groups with limits and who is notified. */
function createSettle(planning: Planning, { complete }: ListingTools) {
  const { freezes = [] } = planning;
  const { limits, notify } = planning.policy;
  const isFrozenOrLimited = freezes.length > 0 || hasGroupLimits(limits);
  const isRouted = notify.some(({ route }) => route);
  const ownerOf = createOwners(planning, complete);
  return async (planned: Planned, owned: Owned): Promise<Planned> => {
    if (planned.is === 'excluded' || !(isRouted || (isFrozenOrLimited && planned.is === 'target')))
      return planned;
    const owner = await ownerOf(owned);
    const told = isRouted ? { told: toldOf(notify, owner) } : {};
    if (planned.is === 'ended') return { ...planned, ...told };
    const end = frozenEnd(freezes, owner);
    if (end) return { is: 'ended', id: planned.id, label: planned.label, end, ...told };
    const groups = planned.takesBack ? [] : groupsOf(limits, owner);
    return { ...planned, ...told, ...(groups.length > 0 ? { groups } : {}) };
  };
}

/** What becomes of an item of `for_each` itself: it is shown when its list is not read. */
function* plannedParent(
  listed: Exclude<Listed, { is: 'candidate' }>,
  requested: Requested | undefined,
): Generator<Planned> {
  if (listed.is === 'read') {
    requested?.noteRead(listed.parent);
    return;
  }
  const planned = plannedWithoutSecrets(listed.planned);
  if (requested) yield* requested.unread(planned);
  else yield planned;
}

/** What listing the candidates needs in addition to the plan. */
export const toolsOf = (planning: Planning): ListingTools => ({
  complete: createCompleter(planning),
  serviceNow: async () =>
    planning.again?.serviceNow ??
    middleOf(await planning.client.serviceTime(planning.now, callOptionsOf(planning))),
});

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

function* extraTargetsOf(job: AnyJob, evaluating: EvaluatingExtra<unknown, unknown>): Generator<Planned> {
  for (const { id, label, site, ...evaluation } of job.extraTargets?.(evaluating) ?? []) {
    yield toPlanned(job, identityOf({ id, label, ...defined({ site }) }, false), evaluation);
  }
}

/** The id and label of a target, and the site that no other run may work on at the same time. */
export interface Identity {
  id: string;
  label: string;
  site?: string;
  /** The site on which its change is recorded, if the policy records any. */
  recordSite?: string;
}

/** Identifies candidates as their job does. A candidate that is a site needs no `site` from the job. */
export function createIdentify({ policy, job }: Planning): (candidate: unknown, parent?: Parent) => Identity {
  const source = sourceOf(job, policy.select);
  const { from, subject } = source;
  const only = isList(from) ? undefined : { id: subject, label: `account ${policy.account}` };
  return (candidate, parent) => {
    if (only) return only;
    const named = job.target(candidate as never);
    const identity = parent ? identityWithin(parent, named) : identityOf(named, from === 'listSites');
    const recordSite = policy.record && siteOfItem(source, candidate, parent?.id);
    return recordSite === undefined ? identity : { ...identity, recordSite };
  };
}

/** What belongs to a site is identified together with it, and holds it. */
const identityWithin = (parent: Parent, { id, label, site }: Named): Identity => ({
  id: idWithin(parent.id, id),
  label: `${parent.label}: ${label}`,
  ...(site === null ? {} : { site: parent.id }),
});

function identityOf({ id, label, site }: Named, isSite: boolean): Identity {
  const held = site === undefined && isSite ? id : site;
  return { id, label, ...(typeof held === 'string' ? { site: held } : {}) };
}

/** Runs the job's `prepare`, and collects what its `evaluate` is given. */
export async function prepareEvaluating(
  planning: Planning,
): Promise<Omit<Evaluating<unknown, unknown>, 'serviceNow'>> {
  const { policy, job, client, now, at, previousAt, earlier } = planning;
  const shared = { options: policy.options, runContext: runContextOf(policy, at), now };
  const { retry, once, announcements, looks, findingsOf } = planning;
  if (!job.prepare) return { ...shared, retry, prepared: undefined };
  const options = callOptionsOf(planning);
  const reading = createJobApi(client, options, readOnlyCall(client, options), planning.onIncomplete);
  const prepared: unknown = await job.prepare({
    ...reading,
    ...shared,
    source: sourceOf(job, policy.select),
    filters: policy.select.filters,
    earlier,
    ...{ once, announcements, looks, findingsOf },
    step: 0,
    ...defined({ previousAt }),
  });
  if (job.look) await looks.keep?.(job.look(prepared));
  return { ...shared, retry, prepared };
}

/** Creates the function that evaluates one candidate. A requested id is never excluded without an outcome. */
function createEvaluator(
  planning: Planning,
  { complete }: ListingTools,
  joined: Joined,
  evaluating: Evaluating<unknown, unknown>,
) {
  const { policy, job, only } = planning;
  const { where, forEach } = policy.select;
  const condition =
    where === undefined || takesAll(planning) ? undefined : compileWhereOf(job, policy.select, where);
  const { from, subject, parent: of } = sourceOf(job, policy.select);
  const evaluatedAt = new Date(evaluating.serviceNow);
  const observe = createObserver(planning, evaluatedAt);
  let reads: Reads | undefined;
  const batchesOf = createBatchConditions(planning, evaluatedAt);
  const evaluateShown = (
    candidate: unknown,
    { id }: Identity,
    parent?: Parent,
  ): Evaluated | NotShownError => {
    const stepsDone = planning.stepsDone?.get(id);
    try {
      const related = condition && job.relate?.(candidate as never, evaluating.prepared);
      const own = { ...(of && parent ? { [of.subject]: parent.item } : {}), [subject]: candidate };
      const all: Items = { ...related, ...own, ...joined.partnersOf(own) };
      const { items, reads: read } = observe(all);
      reads = read;
      if (condition?.test(items, evaluatedAt) === false) return { is: 'excluded', why: WHERE_FAILS };
      const given = stepsDone ? { ...evaluating, stepsDone } : evaluating;
      const evaluation = job.evaluate?.(items[subject] as never, given, items) ?? { is: 'target' };
      return evaluation.is === 'target' ? { ...evaluation, ...batchesOf(items) } : evaluation;
    } catch (error) {
      if (error instanceof NotShownError) return error;
      throw error;
    }
  };
  return async (listed: unknown, named: Identity, parent?: Parent): Promise<Planned> => {
    let candidate = listed;
    let evaluation = evaluateShown(candidate, named, parent);
    if (isOf(evaluation, of?.subject) && of && parent) {
      await completeParent(parent, of.list, complete);
      evaluation = evaluateShown(candidate, named, parent);
    }
    if (isList(from) && isOf(evaluation, subject)) {
      candidate = await complete(from, candidate, forEach && parent ? withinParent(forEach, parent) : {});
      evaluation = evaluateShown(candidate, named, parent);
    }
    const planned = plannedAs(evaluation, named);
    return reads && planned.is !== 'excluded' ? { ...planned, facts: reads.facts() } : planned;
  };

  function plannedAs(evaluation: Evaluation<unknown> | NotShownError, named: Identity): Planned {
    if (evaluation instanceof NotShownError)
      return toPlanned(job, named, { is: 'ineligible', why: evaluation.message });
    if (only && evaluation.is === 'excluded') {
      const detail = `${evaluation.why}.`;
      if (job.reportsSelection) return { is: 'ended', ...named, end: { is: 'done', reason: 'done', detail } };
      const why = evaluation.why === WHERE_FAILS ? `It is in the account; ${WHERE_FAILS}: ${where}` : detail;
      return { is: 'ended', ...named, end: notEligible(why), unselected: true };
    }
    return toPlanned(job, named, evaluation);
  }
}

/**
 * Creates the function that observes what is read of items, if the plan is to have the facts that it rests on.
 * What the list was asked to filter by counts as read, as far as the list shows it.
 */
function createObserver({ withFacts, policy, job }: Planning, now: Date) {
  const { from, subject, parent: of } = sourceOf(job, policy.select);
  const { filters, forEach } = policy.select;
  const parentWhere = forEach?.where;
  const condition =
    forEach && parentWhere !== undefined ? compileParentWhere(forEach.list, parentWhere) : undefined;
  return (given: Items): { items: Items; reads?: Reads } => {
    if (!withFacts) return { items: given };
    const reads = new Reads();
    const items = Object.fromEntries(
      Object.entries(given).map(([name, item]) => [name, reads.observe(name, item)]),
    );
    for (const path of filteredBy(from, filters)) reads.add(subject, path);
    if (of && forEach) {
      for (const path of filteredBy(of.list, forEach.filters)) reads.add(of.subject, path);
      condition?.test(items, now);
    }
    return { items, reads };
  };
}

/** The fields that a list compares with these filters, as far as it shows them. */
const filteredBy = (from: CandidateSource, filters: object): string[][] =>
  Object.keys(filters).flatMap((field) => {
    const shows = listDeclared(from)?.filters[field]?.shows;
    return shows === undefined ? [] : [shows.split('.')];
  });
/** What the plan makes of a candidate, and the batches whose condition holds for it. */
type Evaluated = Evaluation<unknown> & { inBatches?: readonly number[] };

/**
 * Creates the function that finds the batches of a `rollout` whose condition holds. One that cannot be decided does
 * not hold.
 */
function createBatchConditions({ policy, job }: Planning, now: Date) {
  const conditions = (policy.rollout?.batches ?? []).flatMap((rule, index) =>
    'where' in rule ? [{ index, where: compileWhereOf(job, policy.select, rule.where) }] : [],
  );
  return (items: Items): { inBatches?: readonly number[] } => {
    const inBatches = conditions.flatMap(({ index, where }) =>
      orNotShown(() => where.test(items, now)) === true ? [index] : [],
    );
    return inBatches.length === 0 ? {} : { inBatches };
  };
}

/** Whether something was not shown of the item with this name. */
const isOf = (evaluation: unknown, variable: string | undefined): boolean =>
  evaluation instanceof NotShownError && evaluation.field.startsWith(`${variable}.`);

function toPlanned(job: AnyJob, named: Identity, evaluation: Evaluated): Planned {
  if (evaluation.is === 'ineligible') return { is: 'ended', ...named, end: notEligible(evaluation.why) };
  if (evaluation.is === 'ended') return { ...evaluation, ...named, end: explainEnd(job, evaluation.end) };
  if (evaluation.is !== 'target') return { ...evaluation, ...named };
  const { state, plan, steps = [], takesBack, step, inBatches } = evaluation;
  return {
    is: 'target',
    ...named,
    ...jobStateOf(job, state),
    ...defined({ plan }),
    ...(takesBack ? { takesBack } : {}),
    ...defined({ step }),
    ...(inBatches ? { inBatches } : {}),
    ...(steps.length === 0 ? {} : { steps }),
  };
}

/**
 * A job's state as it is recorded, its texts redacted: they may be texts of the service, such as the address of a site.
 * A job that compares one with what the service shows later redacts that too.
 *
 * @throws {Error} when it is too large or does not match the schema that the job declares: an error in the
 * job.
 */
export function jobStateOf(job: AnyJob, jobState: unknown): { jobState?: string } {
  if (jobState === undefined) return {};
  if (!job.state) throw new Error(`The job ${job.name} gave a state, but does not declare one.`);
  const redacted = (_key: string, value: unknown) => (typeof value === 'string' ? scrub(value) : value);
  const text = JSON.stringify(job.state.parse(jobState), redacted);
  const max = job.steps ? MAX_STATE_OF_STEPS_BYTES : MAX_JOB_STATE_BYTES;
  if (text.length > max) throw new Error(`The job ${job.name} gave a state larger than ${max / 1024} KB.`);
  return { jobState: text };
}
