/** Makes an inventory of an account. */

import type { CallOptions } from '../../client/call-options.ts';
import type { Client } from '../../client/client.ts';
import { AccountRefusedError, GoneError, RejectedError, UnavailableError } from '../../client/errors.ts';
import { allItems, type Incomplete } from '../../client/pages.ts';
import { type Clock, middleOf } from '../../clock.ts';
import { pathParameters } from '../../contract/operation.ts';
import { type ListId, type OperationId, operationOf } from '../../contract/operations.ts';
import { CaretakerError, messageOf } from '../../errors.ts';
import { isList } from '../../job/candidates.ts';
import type { Registry } from '../../job/registry.ts';
import { candidatesOf } from '../../job/source.ts';
import type { Policy } from '../../policy/policy.ts';
import { jobOf } from '../../policy/policy-job.ts';
import { planOffline, usualBudget } from '../offline-plan.ts';
import { type Params, type Reads, readKey } from '../reads.ts';
import { type Inventory, listIds, type Recorded, refusalOf } from './inventory.ts';

export interface SaveOptions {
  account: { name: string; baseUrl: string };
  client: Client;
  clock: Pick<Clock, 'now'>;
  registry: Pick<Registry, 'get'>;
  /** What planning these policies reads is saved. */
  policies: readonly Policy[];
  /** The time for which they are planned. Default: now. */
  at?: number | undefined;
  /** Whether every list of the account is saved too, and not only those that the policies need. */
  allLists: boolean;
  /** Called after each complete read. */
  onRead: (read: Recorded) => void;
  /** Called for each list of which fewer items arrived than the service counts: plans over it miss the others. */
  onIncomplete?: (incomplete: Incomplete) => void;
}

export interface Saved {
  inventory: Inventory;
  requests: number;
  /** The policies of which not every read could be saved, and why. */
  incomplete: { policy: string; why: string }[];
}

/**
 * Reads an account. The lists come first, then what else each policy reads: it is planned over the lists,
 * and what planning asks for is read.
 *
 * @throws {UnavailableError} {AccountRefusedError}
 */
export async function saveInventory(options: SaveOptions): Promise<Saved> {
  const { account, client, clock, registry, policies, allLists, onRead } = options;
  const savedAt = clock.now();
  let requests = 0;
  const callOptions = {
    requestClass: 'person',
    onRequest: () => {
      requests += 1;
    },
  } as const;
  const reads = recorder(client, callOptions, onRead, options.onIncomplete);
  const lists = listIds.filter((id) => pathParameters(operationOf(id).path).length === 0);
  if (allLists) for (const list of lists) await tolerant(() => reads.items(list, {}));
  for (const policy of policies) {
    const { select } = policy;
    const job = jobOf(registry, policy);
    const list = job && (select.forEach?.list ?? candidatesOf(job, select));
    if (list && isList(list)) await tolerant(() => reads.items(list, {}));
  }
  // By now an answer has shown the service's time, so this costs no request.
  const serviceAt = middleOf(await client.serviceTime(savedAt, callOptions));
  const incomplete: Saved['incomplete'] = [];
  for (const policy of policies) {
    const now = options.at ?? savedAt;
    const serviceNow = now + serviceAt - savedAt;
    const planning = { reads, registry, now, serviceNow, budget: usualBudget };
    const why = await tolerant(() => planOffline(policy, planning));
    if (why !== undefined) incomplete.push({ policy: policy.name, why });
  }
  const inventory = {
    account: account.name,
    baseUrl: withoutCredentials(account.baseUrl),
    savedAt,
    serviceAt,
    entries: reads.entries(),
  };
  return { inventory, requests, incomplete };
}

/** Why it failed, in a sentence; only without a usable service there is nothing left to read. */
async function tolerant(read: () => Promise<unknown>): Promise<string | undefined> {
  try {
    await read();
    return undefined;
  } catch (error) {
    const isAway = error instanceof UnavailableError || error instanceof AccountRefusedError;
    if (isAway || !(error instanceof CaretakerError)) throw error;
    return messageOf(error);
  }
}

function withoutCredentials(baseUrl: string): string {
  const { origin, pathname } = new URL(baseUrl);
  return `${origin}${pathname}`;
}

/** Reads through to the service. Each read is sent once and kept, and so is a refusal. */
interface Recorder extends Reads {
  entries(): readonly Recorded[];
}

/**
 * `onRead` is called after each complete read, `onIncomplete` for a list of which fewer items arrived than it counts.
 * Costs one request per 100 items, or one for a single view.
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
