/**
 * An inventory: what an account answered when it was saved, by operation and path parameters. Lists are
 * complete and without filters, so that a changed policy can filter them in another way.
 */

import { GoneError, RejectedError } from '../../client/errors.ts';
import { isoTime } from '../../clock.ts';
import { readAnswer } from '../../contract/answers.ts';
import { type ListId, type OperationId, operationOf, operations } from '../../contract/operations.ts';
import type { Preview } from '../../engine/plan/preview.ts';
import type { Policy } from '../../policy/policy.ts';
import { type OfflinePlan, planOffline } from '../offline-plan.ts';
import { describeRead, NotHeldError, type Params, type Reads, readKey } from '../reads.ts';

/** One read of the account. */
export interface Recorded {
  operation: OperationId;
  params: Params;
  /** Of a list: its items as the service answered them. */
  items?: readonly object[];
  /** Of any other operation: its answer. */
  answer?: object;
  /** What the service answered instead: 404, 400 or 422. */
  refused?: { status: number; code?: string | undefined; message: string };
}

export interface Inventory {
  /** The account's name in the configuration. */
  account: string;
  /** Without credentials. */
  baseUrl: string;
  /** When it was saved, by our clock and by the service's. */
  savedAt: number;
  serviceAt: number;
  entries: readonly Recorded[];
}

/** Every list operation. */
export const listIds = Object.keys(operations).filter(
  (id) => operationOf(id as OperationId).list !== undefined,
) as ListId[];

/** Items of a list are read by this many at a time: one that deviates costs no more than its neighbours. */
const CHUNK = 100;

/**
 * Answers from an inventory for a policy. `name` is what errors call the inventory, `at` the time of planning where it is
 * not that of the inventory: what a policy reads can depend on it.
 */
export function readsOf(
  { entries }: Pick<Inventory, 'entries'>,
  name: string,
  policy: string,
  at?: number,
): Reads {
  const forTime = at === undefined ? '' : ` --at ${isoTime(at).replace('.000Z', 'Z')}`;
  const byKey = new Map(entries.map((entry) => [readKey(entry.operation, entry.params), entry]));
  const read = new Map<Recorded, readonly object[]>();
  const held = (operation: OperationId, params: Params): Recorded | undefined => {
    const entry = byKey.get(readKey(operation, params));
    if (entry?.refused) throw refusalOf(operation, entry.refused);
    return entry;
  };
  const lacks = (operation: OperationId, params: Params) =>
    new NotHeldError(
      `${name} does not hold ${describeRead(operation, params)}. Save it again: "caretaker inventory save --policy ${policy}${forTime}", or without --policy for all policies.`,
    );
  return {
    async items(list, params) {
      const entry = held(list, params);
      if (!entry?.items) throw lacks(list, params);
      const items = read.get(entry) ?? itemsIn(list, entry.items);
      read.set(entry, items);
      return items;
    },
    async view(operation, params) {
      const entry = held(operation, params);
      if (entry?.answer) return readAnswer(operation, entry.answer).value;
      if (isMissing(byKey, operation, params)) throw new GoneError(operation);
      throw lacks(operation, params);
    },
  };
}

function itemsIn(list: ListId, items: readonly object[]): readonly object[] {
  const { key = '' } = operationOf(list).list ?? {};
  const all: object[] = [];
  for (let from = 0; from < items.length; from += CHUNK) {
    const page = readAnswer(list, { [key]: items.slice(from, from + CHUNK) }).value;
    all.push(...(Reflect.get(page as object, key) as object[]));
  }
  return all;
}

/** Whether the list that the item would be in is held and does not have it: then there is no such item. */
function isMissing(byKey: ReadonlyMap<string, Recorded>, operation: OperationId, params: Params): boolean {
  const list = listOfView(operation);
  if (!list) return false;
  const parents = Object.entries(params).slice(0, -1);
  const id = Object.values(params).at(-1);
  const entry = byKey.get(readKey(list, Object.fromEntries(parents)));
  return entry?.items?.every((item) => Reflect.get(item, 'id') !== id) ?? false;
}

/** The list whose items an operation shows alone: `listSites` for `showSite`. */
export function listOfView(operation: OperationId): ListId | undefined {
  const { path, method } = operationOf(operation);
  const of = /^(.*)\/\{\w+\}$/.exec(path)?.[1];
  if (method !== 'GET' || of === undefined) return undefined;
  return listIds.find((list) => operationOf(list).path === of);
}

/** The error that the client throws for a recorded refusal. */
export function refusalOf(
  operation: OperationId,
  { status, code, message }: NonNullable<Recorded['refused']>,
): Error {
  const problem = { message, ...(code === undefined ? {} : { code }) };
  return status === 404 ? new GoneError(operation, problem) : new RejectedError(operation, status, problem);
}

// The plan of a policy over a saved inventory.

export interface OverInventory extends Pick<OfflinePlan, 'registry' | 'budget'> {
  inventory: Inventory;
  /** What errors call the inventory: its file. */
  name: string;
  /** The time of planning. Default: when the inventory was saved. */
  now?: number;
}

/** @throws {NotHeldError} when the policy reads what the inventory does not hold. */
export function planOverInventory(
  policy: Policy,
  { inventory, name, now = inventory.savedAt, registry, budget }: OverInventory,
  only?: readonly string[],
): Promise<Preview> {
  const serviceNow = now + inventory.serviceAt - inventory.savedAt;
  const reads = readsOf(inventory, name, policy.name, now === inventory.savedAt ? undefined : now);
  return planOffline(policy, { reads, registry, now, serviceNow, budget }, only);
}
