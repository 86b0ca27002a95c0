/**
 * A client that sends nothing: it answers from `Reads`, with filters, sorts and pages as the service applies
 * them. What would be a request is counted as one, so that a plan shows the same cost.
 */
import type { CallOptions } from '../client/call-options.ts';
import type { Client } from '../client/client.ts';
import { InvalidInputError } from '../client/errors.ts';
import { checkInput } from '../contract/input.ts';
import type { List, ListQuery } from '../contract/list.ts';
import { pathParameters } from '../contract/operation.ts';
import { type ListId, type OperationId, operationOf } from '../contract/operations.ts';
import { cutPage, type FieldValue } from '../sandbox/list.ts';
import { itemFields } from './item-fields.ts';
import { NotHeldError, type Params, type Reads } from './reads.ts';

export interface OfflineClientOptions {
  account: string;
  reads: Reads;
  /** The time of planning, by our clock and by the service's. */
  now: number;
  serviceNow: number;
}

/** Opens it. Costs nothing, and needs no closing. */
export function offlineClient({ account, reads, now, serviceNow }: OfflineClientOptions): Client {
  const toService = (at: number) => {
    const time = at + serviceNow - now;
    return { earliest: time, latest: time };
  };
  const call = async (id: OperationId, input: object, { onRequest }: CallOptions): Promise<unknown> => {
    const faults = checkInput(id, input);
    if (faults.length > 0) throw new InvalidInputError(id, faults);
    const { effect, list, answers } = operationOf(id);
    if (effect !== undefined || answers !== undefined)
      throw new NotHeldError(`${id} cannot be answered without the service.`);
    // Before the answer: a refusal costs a request too.
    onRequest?.(id, { window: 0 });
    const { params, query } = split(id, input);
    return list
      ? page(reads, id as ListId, list, params, query, serviceNow)
      : reads.view(id, { ...params, ...query });
  };
  return {
    account,
    call: call as Client['call'],
    download: async (id) => {
      throw new NotHeldError(`${id} cannot be answered without the service.`);
    },
    waitingSince: () => undefined,
    isSandbox: () => false,
    answers: async () => true,
    serviceTime: async (at) => toService(at),
    knownServiceTime: toService,
    close: async () => undefined,
  };
}

/** Path parameters, and everything else. */
function split(id: OperationId, input: object): { params: Params; query: Params } {
  const names = pathParameters(operationOf(id).path);
  const given = Object.entries(input).filter(([, value]) => value !== undefined);
  return {
    params: Object.fromEntries(given.filter(([name]) => names.includes(name))),
    query: Object.fromEntries(given.filter(([name]) => !names.includes(name))),
  };
}

async function page(
  reads: Reads,
  id: ListId,
  list: List,
  params: Params,
  asked: ListQuery,
  serviceNow: number,
): Promise<object> {
  const items = await reads.items(id, params);
  const query = id === 'listSiteSnapshots' ? withinWindow(asked, serviceNow) : asked;
  const fields = await fieldsOf(reads, id, query);
  const { items: shown, pagination } = cutPage(list, query, items, fields);
  return list.paged ? { [list.key]: shown, meta: { pagination } } : { [list.key]: shown };
}

const WEEK_MS = 7 * 86_400_000;

/** Without bounds, the service lists the snapshots of the last seven days (spec 4.19). */
function withinWindow(query: ListQuery, now: number): ListQuery {
  const asked = query.filters?.['created_at'];
  const defaults = { gte: new Date(now - WEEK_MS).toISOString(), lte: new Date(now).toISOString() };
  return { ...query, filters: { ...query.filters, created_at: { ...defaults, ...asked } } };
}

type ReadField = (item: object) => FieldValue;
type ReadShown = (item: object, account: { siteIds: readonly string[] }) => FieldValue | undefined;

/**
 * How the fields of a list are read from its items.
 *
 * @throws {NotHeldError} at an item that does not show the field: to take it for empty would be a guess.
 */
async function fieldsOf(reads: Reads, id: ListId, query: ListQuery): Promise<Record<string, ReadField>> {
  const needsSites = id === 'listAutoUpdateSchedules' && query.filters?.['site_id'] !== undefined;
  const sites = needsSites ? await reads.items('listSites', {}) : [];
  const account = { siteIds: sites.map((site) => String(Reflect.get(site, 'id'))) };
  const readers = itemFields[id] as unknown as Readonly<Record<string, ReadShown>>;
  return Object.fromEntries(
    Object.entries(readers).map(([field, read]): [string, ReadField] => [
      field,
      (item) => {
        const value = read(item, account);
        if (value !== undefined) return value;
        const name = String(Reflect.get(item, 'id') ?? 'an item');
        throw new NotHeldError(`${id} cannot be filtered or sorted by ${field}: ${name} does not show it.`);
      },
    ]),
  );
}
