/** The account of a policy's test: the items it gives, each completed to a healthy one. */
import { GoneError } from '../../client/errors.ts';
import { ContractError, type Drift, readAnswer } from '../../contract/answers.ts';
import { pathParameters } from '../../contract/operation.ts';
import { type ListId, type OperationId, operationOf } from '../../contract/operations.ts';
import { listOfView } from '../inventory/inventory.ts';
import { describeRead, NotHeldError, type Params, type Reads } from '../reads.ts';
import {
  type AccountView,
  accountViews,
  healthyDetails,
  healthyItems,
  healthyViews,
  idPrefixes,
  timesAt,
} from './healthy-items.ts';

export type PartialItem = Readonly<Record<string, unknown>>;
/** The items of each list; of a list of a site, by the site's id. */
export type Given = { readonly [List in ListId]?: readonly PartialItem[] | PartialItems } & {
  readonly [View in AccountView]?: PartialItem;
};
type PartialItems = Readonly<Record<string, readonly PartialItem[]>>;

/** The one parameter of a list of items of something else: `site_id` of `listSiteNotes`. */
export const parentOf = (list: ListId): string | undefined => pathParameters(operationOf(list).path)[0];

/** Answers from the given items, as at a time. */
export function givenReads(given: Given, at: number): Reads {
  const itemsOf = (list: ListId, params: Params): object[] => {
    const all = given[list];
    if (!all) {
      throw new NotHeldError(
        `The test gives no ${list}, which the policy reads. Add it under "given"; an empty list is ${parentOf(list) === undefined ? '[]' : '{}'}.`,
      );
    }
    const parent = params[parentOf(list) ?? ''];
    const own = Array.isArray(all) ? all : ((all as PartialItems)[String(parent)] ?? []);
    return own.map((item, index) => completeItem(list, item, index, at));
  };
  return {
    items: async (list, params) => itemsOf(list, params),
    async view(operation, params) {
      if (isAccountView(operation)) return accountAnswer(operation, given[operation]);
      const list = listOfView(operation);
      if (!list) throw new NotHeldError(`A test cannot give ${describeRead(operation, params)}.`);
      const found = itemsOf(list, params).find(
        (item) => Reflect.get(item, 'id') === Object.values(params).at(-1),
      );
      if (!found) throw new GoneError(operation);
      const [key = ''] = pathKeys(operation);
      return readAnswer(operation, { [key]: merged(healthyDetails[list] ?? {}, found) }).value;
    },
  };
}

const isAccountView = (operation: OperationId): operation is AccountView =>
  accountViews.some((one) => one === operation);

function accountAnswer(view: AccountView, given: PartialItem | undefined): unknown {
  if (!given)
    throw new NotHeldError(
      `The test gives no ${view}, which the policy reads. Add it under "given"; {} is an account that changed nothing.`,
    );
  const [key = ''] = pathKeys(view);
  return readAnswer(view, { [key]: merged(healthyViews[view], given) }).value;
}

/** The keys of an operation's answer: `site`. */
const pathKeys = (operation: Parameters<typeof operationOf>[0]): string[] => {
  const { answer } = operationOf(operation);
  return answer && 'shape' in answer ? Object.keys(answer.shape as object) : [];
};

/** A given item with everything else that a healthy one shows. */
const completeItem = (list: ListId, given: PartialItem, index: number, at: number): object =>
  asAnswered(list, merged(healthyItems[list](idOf(list, given, index), timesAt(at)), given)).item;

function idOf(list: ListId, given: PartialItem, index: number): string {
  const own = list === 'listAutoUpdateHistory' ? given['task_id'] : given['id'];
  return typeof own === 'string' ? own : `${idPrefixes[list]}-${index + 1}`;
}

/** An item as the client would read it. Drops what the service never answers. */
function asAnswered(list: ListId, item: object): { item: object; drift: readonly Drift[] } {
  const { key = '' } = operationOf(list).list ?? {};
  const { value, drift } = readAnswer(list, { [key]: [item] });
  const [read = item] = (value as Record<string, object[]>)[key] ?? [];
  return { item: read, drift };
}

/** Whether an item can be used does not depend on its times. */
const SOME_TIME = Date.UTC(2026, 0);

/** Why a given item cannot be used, as a sentence: it lacks a field that the service always shows. */
export function faultOf(list: ListId, given: PartialItem): string | undefined {
  try {
    const complete = merged(healthyItems[list](idOf(list, given, 0), timesAt(SOME_TIME)), given);
    const { item, drift } = asAnswered(list, complete);
    const lost = lostIn(complete, item, '');
    const cause = drift.find(({ path }) => pathInItem(path).startsWith(lost ?? '?'));
    return lost === undefined
      ? undefined
      : `"${pathInItem(cause?.path ?? lost)}" ${cause?.message ?? 'is wrong'}.`;
  } catch (error) {
    if (!(error instanceof ContractError)) throw error;
    return `"${pathInItem(error.path)}" is missing.`;
  }
}

/** `tags[0].id` of `sites[0].tags[0].id`. */
const pathInItem = (path: string): string => path.replace(/^\w+\[0\]\.?/, '');

/** The first field that was dropped when an item was read. */
function lostIn(before: object, after: object, path: string): string | undefined {
  for (const [name, value] of Object.entries(before)) {
    const inner = Array.isArray(before) ? `${path}[${name}]` : `${path}${path === '' ? '' : '.'}${name}`;
    const read: unknown = Reflect.get(after, name);
    if (read === undefined) return inner;
    if (typeof value !== 'object' || value === null) continue;
    const lost = lostIn(value, read as object, inner);
    if (lost !== undefined) return lost;
  }
  return undefined;
}

const isMap = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Maps are merged, everything else is replaced. */
function merged(base: object, given: object): object {
  const inner = Object.entries(given).map(([name, value]) => {
    const before: unknown = Reflect.get(base, name);
    return [name, isMap(before) && isMap(value) ? merged(before, value) : value];
  });
  return { ...base, ...Object.fromEntries(inner) };
}
