/** Reads an account and keeps every answer: the way to make an inventory. */
import type { CallOptions } from '../../client/call-options.ts';
import type { Client } from '../../client/client.ts';
import { GoneError, RejectedError } from '../../client/errors.ts';
import { allItems, type Incomplete } from '../../client/pages.ts';
import { type ListId, type OperationId, operationOf } from '../../contract/operations.ts';
import { type Params, type Reads, readKey } from '../reads.ts';
import { type Recorded, refusalOf } from './inventory.ts';

/** Reads through to the service. Each read is sent once and kept, and so is a refusal. */
export interface Recorder extends Reads {
  entries(): readonly Recorded[];
}

/**
 * `onRead` is called after each complete read, `onIncomplete` for a list of which fewer items arrived than it counts. Costs one request per 100 items, or one for a single view.
 */
export function recorder(
  client: Pick<Client, 'call'>,
  options: CallOptions,
  onRead: (read: Recorded) => void,
  onIncomplete?: (incomplete: Incomplete) => void,
): Recorder {
  const kept = new Map<string, Recorded>();
  const send = (operation: OperationId, input: object): Promise<unknown> =>
    client.call(operation, input as never, options);
  const once = async (
    operation: OperationId,
    params: Params,
    read: () => Promise<Pick<Recorded, 'items' | 'answer'>>,
  ): Promise<Recorded> => {
    const key = readKey(operation, params);
    const before = kept.get(key);
    const entry = before ?? { operation, params, ...(await read().catch(refusedBy)) };
    if (!before) onRead(entry);
    kept.set(key, entry);
    if (entry.refused) throw refusalOf(operation, entry.refused);
    return entry;
  };
  return {
    entries: () => [...kept.values()],
    async items(list, params) {
      const { items = [] } = await once(list, params, async () => {
        const found: object[] = [];
        const query = { ...params, ...wholeOf(list) };
        const fetchPage = (page: object) => send(list, { ...query, ...page });
        for await (const item of allItems(list, fetchPage, { onIncomplete })) found.push(item);
        return { items: found };
      });
      return items;
    },
    async view(operation, params) {
      const { answer } = await once(operation, params, async () => ({
        answer: ((await send(operation, params)) ?? {}) as object,
      }));
      return answer;
    },
  };
}

/** What the service refuses is part of the inventory. @throws any other error */
function refusedBy(error: unknown): Pick<Recorded, 'refused'> {
  if (error instanceof GoneError) return { refused: { status: 404, ...error.problem } };
  if (error instanceof RejectedError) return { refused: { status: error.status, ...error.problem } };
  throw error;
}

/** Fields by which a list is in the order of creation, in which the service keeps items that sort the same. */
const creation = ['created_at', 'performed_on', 'timestamp'];

/** The query that lists everything, in the order of creation if the list can be sorted by it. */
function wholeOf(list: ListId): object {
  const { sorts = [] } = operationOf(list).list ?? {};
  const field = creation.find((name) => sorts.includes(name));
  const sort = field === undefined ? {} : { sort: `${field},asc` };
  if (list !== 'listSiteSnapshots') return sort;
  // Without bounds, the service lists the last seven days only.
  const created_at = { gte: '1970-01-01T00:00:00Z', lte: '2999-01-01T00:00:00Z' };
  return { ...sort, filters: { created_at } };
}
