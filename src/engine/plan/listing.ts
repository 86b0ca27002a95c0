/**
 * Reads the candidates of a policy: the items of a list, or those of one list for each item of another
 * (`select.for_each`). Both are read page by page, so that their length does not matter.
 */
import { GoneError, RejectedError } from '../../client/errors.ts';
import { countItems, type EarlierReading, type ListPosition, readList } from '../../client/pages.ts';
import { type Input, operationOf } from '../../contract/operations.ts';
import { NotShownError, orNotShown } from '../../expression/fields.ts';
import {
  type accountSources,
  type CandidateList,
  candidateLists,
  idOf,
  isList,
  labelOf,
  ownParameter,
  parentIdIn,
} from '../../job/candidates.ts';
import { candidatesOf } from '../../job/source.ts';
import type { ForEach, Select } from '../../policy/policy.ts';
import { compileParentWhere } from '../../policy/where.ts';
import {
  type Complete,
  callOptionsOf,
  notEligible,
  type Params,
  type Planned,
  type Planning,
  takesAll,
} from './planning.ts';
import { pushedFilters, withPushed } from './pushdown.ts';

/** An item of the list of `for_each`. `item` is replaced when its single view has completed it. */
export interface Parent {
  id: string;
  label: string;
  item: object;
  isCompleted?: true;
}

/**
 * A candidate; or an item of `for_each` whose list was read to its end; or one whose list was not read, and why.
 */
export type Listed =
  | { is: 'candidate'; item: unknown; parent?: Parent }
  | { is: 'read'; parent: Parent }
  | { is: 'unread'; planned: Planned };

/** Up to this many requested ids are looked up one by one. More are picked from the whole list. */
export const MAX_LOOKUPS_BY_ID = 10;
/** The same when an earlier plan is made again: its filters are those of the policy, so few pages have all targets. */
export const MAX_LOOKUPS_AGAIN = 3;

export interface ListingTools {
  complete: Complete;
  /** Costs no request after the first answer of the service. */
  serviceNow: () => Promise<number>;
}

/**
 * Filters of the policy and those for its condition are sent to the service; see `pushdown.ts`.
 *
 * Costs one request per 100 items that match the filters, or one per requested id; one for the account's branding,
 * and none for the account itself. With `for_each`: that for its
 * list, and for each of its items that is selected one request per 100 candidates, at least one.
 *
 * @throws the client's errors. With `for_each`, a list that is gone or refused is `unread` instead.
 */
export async function* listCandidates(planning: Planning, tools: ListingTools): AsyncGenerator<Listed> {
  if (planning.job.takesLists) {
    yield* wholeLists(planning, tools);
    return;
  }
  const { select } = planning.policy;
  const list = candidatesOf(planning.job, select);
  if (!isList(list)) {
    yield { is: 'candidate', item: await onlyItem(planning, list) };
    return;
  }
  const pushed = await pushedFilters(planning, tools.serviceNow);
  planning.onPushed?.(pushed);
  const isSent = pushed.length > 0 && !planning.listsAll;
  const filters = isSent ? { filters: withPushed(select.filters, pushed) } : filtersOf(planning);
  const query = { ...queryOf(select), ...within(planning, list, filters) };
  if (!select.forEach) {
    for await (const { item, name, position } of itemsOf(planning, list, query, planning)) {
      yield { is: 'candidate', item };
      await planning.onProcessed?.(name, position);
    }
    return;
  }
  for await (const found of parentsOf(planning, select.forEach, tools)) {
    if ('planned' in found) {
      yield { is: 'unread', ...found };
      continue;
    }
    try {
      const ofParent = { ...withinParent(select.forEach, found), ...query };
      for await (const { item } of itemsOf(planning, list, ofParent))
        yield { is: 'candidate', item, parent: found };
      yield { is: 'read', parent: found };
    } catch (error) {
      const why = whyUnread(error);
      if (why === undefined) throw error;
      yield { is: 'unread', planned: unread(found, why) };
    }
  }
}

/** The candidates of a job that works on whole lists. Costs what the list of `for_each` costs. */
async function* wholeLists(planning: Planning, tools: ListingTools): AsyncGenerator<Listed> {
  const { select } = planning.policy;
  if (!select.forEach) {
    yield { is: 'candidate', item: { id: candidatesOf(planning.job, select) } };
    return;
  }
  for await (const found of parentsOf(planning, select.forEach, tools))
    yield 'planned' in found ? { is: 'unread', ...found } : { is: 'candidate', item: found.item };
}

/** The account itself, or its one item. */
async function onlyItem(planning: Planning, from: keyof typeof accountSources): Promise<unknown> {
  const { client } = planning;
  if (from === 'account') return { name: client.account };
  return Object.values(await client.call(from, {}, callOptionsOf(planning)))[0];
}

/** The path parameters of the lists that a parent has. */
export const withinParent = ({ list }: Pick<ForEach, 'list'>, { id }: Pick<Parent, 'id'>): Params => ({
  [ownParameter(list) ?? 'id']: id,
});

const queryOf = ({ sort, timezone }: Select) => ({
  ...(sort ? { sort } : {}),
  ...(timezone ? { timezone } : {}),
});

/** The filters that candidates are listed with. Some lists do not accept `filters` at all, not even empty ones. */
function filtersOf(planning: Planning): { filters?: Select['filters'] } {
  const { filters } = planning.policy.select;
  return takesAll(planning) || planning.again?.withoutFilters || Object.keys(filters).length === 0
    ? {}
    : { filters };
}

/** The filters, and the times of creation of the requested items where the list can compare them. */
function within({ again, policy }: Planning, list: CandidateList, given: { filters?: Select['filters'] }) {
  const created = again?.createdWithin;
  const takes = operationOf(list).list?.filters['created_at']?.operators ?? [];
  const isFree = created && !policy.select.forEach && !given.filters?.['created_at'];
  if (!isFree || !takes.includes('gte') || !takes.includes('lte')) return given;
  return { filters: { ...given.filters, created_at: { ...created } } };
}

/** Which items of a list are wanted. */
interface Wanted {
  /** The only ones. */
  only?: readonly string[] | undefined;
  /** All but those that an earlier plan has processed. */
  earlierPlan?: EarlierReading | undefined;
}

/** The items of a list; if only some of few ids are wanted, they are looked up by their ids where possible. */
async function* itemsOf(
  planning: Planning,
  list: CandidateList,
  query: { filters?: Select['filters'] },
  { only: ids, earlierPlan: earlier }: Wanted = {},
): AsyncGenerator<{ item: unknown; name: string; position: ListPosition }> {
  const call = (input: object) =>
    planning.client.call(list, input as Input<typeof list>, callOptionsOf(planning));
  const byId = operationOf(list).list?.filters['id']?.operators.includes('eq') === true;
  // A policy that filters by id keeps its own filter.
  const { again, onIncomplete } = planning;
  const max = again && !again.withoutFilters ? MAX_LOOKUPS_AGAIN : MAX_LOOKUPS_BY_ID;
  if (ids && ids.length <= max && byId && !query.filters?.['id']) {
    const processed = new Set(earlier?.given);
    for (const id of ids) {
      if (processed.has(id)) continue;
      const filters = { ...query.filters, id: { eq: id } };
      yield* readList(list, (page) => call({ ...query, ...page, filters }), { onIncomplete });
    }
    return;
  }
  yield* readList(list, (page) => call({ ...query, ...page }), { earlier, onIncomplete });
}

/** The items of `for_each` that are selected; and why the others are not, if that is to be shown. */
async function* parentsOf(
  planning: Planning,
  { list, filters, where }: ForEach,
  { complete, serviceNow }: ListingTools,
): AsyncGenerator<Parent | { planned: Planned }> {
  const { only, earlierPlan } = planning;
  const wanted = only && new Set(only.map((id) => parentIdIn(id) ?? id));
  const isOpen = takesAll(planning);
  const condition = where === undefined || isOpen ? undefined : compileParentWhere(list, where);
  const query = isOpen || Object.keys(filters).length === 0 ? {} : { filters };
  const subject = candidateLists[list];
  const listed = itemsOf(planning, list, query, { only: wanted && [...wanted], earlierPlan });
  for await (const { item, name, position } of listed) {
    planning.onParent?.(item);
    const parent: Parent = { id: idOf(item as object), label: labelOf(item as object), item: item as object };
    if (!wanted || wanted.has(parent.id)) {
      const now = new Date(await serviceNow());
      const holds = () => orNotShown(() => condition?.test({ [subject]: parent.item }, now) ?? true);
      let selected = holds();
      if (selected instanceof NotShownError) {
        await completeParent(parent, list, complete);
        selected = holds();
      }
      if (selected === true) yield parent;
      else if (selected instanceof NotShownError) yield { planned: unread(parent, selected.message) };
      else
        yield { planned: { is: 'excluded', ...named(parent), why: 'select.for_each.where does not hold' } };
    }
    await planning.onProcessed?.(name, position);
  }
}

/** Requests the single view of a parent, once for all candidates that belong to it. */
export async function completeParent(parent: Parent, list: CandidateList, complete: Complete): Promise<void> {
  if (parent.isCompleted) return;
  parent.item = (await complete(list, parent.item, {})) as object;
  parent.isCompleted = true;
}

const named = ({ id, label }: Parent) => ({ id, label });

/** What the list of a parent would show is unknown. */
const unread = (parent: Parent, why: string): Planned => ({
  is: 'ended',
  ...named(parent),
  end: notEligible(why),
});

/** Why a list cannot be read although the service answers: undefined for any other error. */
function whyUnread(error: unknown): string | undefined {
  if (!(error instanceof GoneError || error instanceof RejectedError)) return undefined;
  const status = error instanceof GoneError ? 404 : error.status;
  return `${error.operation} could not be read (HTTP ${status}): ${error.problem.message}`;
}

/** How many candidates match the policy's own filters. Usually costs one request. */
export async function countMatching(planning: Planning): Promise<number> {
  const list = candidatesOf(planning.job, planning.policy.select);
  if (!isList(list)) return 1;
  return countItems(list, (page) =>
    planning.client.call(
      list,
      { ...filtersOf(planning), ...page } as Input<typeof list>,
      callOptionsOf(planning),
    ),
  );
}

/**
 * How many candidates there are without the policy's filters: the total for `limits.max_percent`; `seen` is the
 * number that the plan has seen. Usually costs one request. With `for_each` it is the total of the lists that the
 * plan reads: no request if it has seen all of them, else those for its list and one for each of its items.
 */
export async function countAll(planning: Planning, seen: number, tools: ListingTools): Promise<number> {
  const { select } = planning.policy;
  // Nothing is changed, and every list that was seen may be worked on.
  if (planning.job.takesLists) return Math.max(1, seen);
  const list = candidatesOf(planning.job, select);
  // What there is only one of has no percentage.
  if (!isList(list)) return Number.POSITIVE_INFINITY;
  const count = (within: Params) =>
    countItems(list, (page) =>
      planning.client.call(list, { ...within, ...page } as Input<typeof list>, callOptionsOf(planning)),
    );
  if (!select.forEach) return count({});
  if (!filtersOf(planning).filters && select.limit === undefined) return seen;
  let total = 0;
  const { onParent: _, onProcessed: __, earlierPlan: ___, ...again } = planning;
  for await (const found of parentsOf(again, select.forEach, tools)) {
    if ('planned' in found) continue;
    try {
      total += await count(withinParent(select.forEach, found));
    } catch (error) {
      // Its candidates are not in the plan either.
      if (whyUnread(error) === undefined) throw error;
    }
  }
  return total;
}
