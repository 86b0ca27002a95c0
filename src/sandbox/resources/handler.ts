/**
 * The arguments and result of an operation's handler. Each operation has one small handler; `table.ts` has
 * all of them.
 */
import type { z } from 'zod';
import type { List, ListQuery } from '../../contract/list.ts';
import type { Operation, PathParameters } from '../../contract/operation.ts';
import type { Answer, Item, ListId, OperationId, Operations } from '../../contract/operations.ts';
import { cutPage, type Fields, type PageFaults } from '../list.ts';
import type { PlanFeature } from '../model/account.ts';
import type { Site } from '../model/site.ts';
import type { Task } from '../model/tasks.ts';
import type { World } from '../model/world.ts';
import { cannot, notFound } from '../refusal.ts';

type Body<O extends Operation> = O extends { body: infer B extends z.ZodType }
  ? O extends { bodyRequired: true }
    ? z.output<B>
    : z.output<B> | undefined
  : undefined;

type Query<O extends Operation> = O extends { list: List }
  ? ListQuery
  : O extends { query: infer Q extends z.ZodType }
    ? z.output<Q>
    : object;

/** A request after authentication, rate limit and contract checks. The world is up to date with `now`. */
export interface Ask<Id extends OperationId> {
  readonly operation: Operation;
  readonly world: World;
  /** The service's current time. */
  readonly now: number;
  readonly params: PathParameters<Operations[Id]>;
  /** The list protocol's query, or the operation's own query fields. */
  readonly query: Query<Operations[Id]>;
  readonly body: Body<Operations[Id]>;
  readonly pageFaults: PageFaults;
  /** Records in the journal that `resource` was changed. Call it with each change, and only then. */
  changed(resource: string): void;
}

/**
 * Answers a request in one synchronous step, so the world does not change meanwhile.
 *
 * @throws {Refusal} for every answer that is not a success.
 */
export type Handler<Id extends OperationId> = (ask: Ask<Id>) => Given<Id>;

/** The JSON of an answer, or the bytes of a PDF. */
type Given<Id extends OperationId> = Operations[Id] extends { answers: 'pdf' } ? Buffer : Answer<Id>;

type ListOf<Id extends ListId> = Operations[Id] extends { list: infer L extends List } ? L : never;

/** What a list operation adds to the engine: the items, how to read their fields, and how to show one. */
interface Listing<Id extends ListId, T> {
  items(ask: Ask<Id>): Iterable<T>;
  fields: Fields<ListOf<Id>, T>;
  view(item: T, ask: Ask<Id>): Item<Id>;
}

/** The handler of a list operation. */
export function lists<Id extends ListId, T>({ items, fields, view }: Listing<Id, T>): Handler<Id> {
  return (ask): Given<Id> => {
    const { list } = ask.operation;
    if (!list) throw new Error(`${ask.operation.path} lists nothing.`);
    const page = cutPage(list, ask.query as ListQuery, items(ask), fields, ask.pageFaults);
    const shown = { [list.key]: page.items.map((item) => view(item, ask)) };
    // The key is a value, so the compiler cannot check the type. The answer is checked against the contract
    // later.
    return (list.paged ? { ...shown, meta: { pagination: page.pagination } } : shown) as Given<Id>;
  };
}

// Finds the items that requests name.

/** @throws {Refusal} 404 when there is no such item. */
export function itemIn<T>(items: ReadonlyMap<string, T>, what: string, id: string): T {
  const item = items.get(id);
  if (item === undefined) throw notFound(what, id);
  return item;
}

export const siteOf = (world: World, id: string): Site => itemIn(world.sites, 'site', id);

type Fault = { code: string; message: string };

/** Does something to each item that is named, once. `act` returns why it cannot be done to one. */
export function forEachOf<T>(
  items: ReadonlyMap<string, T>,
  what: string,
  named: readonly string[],
  act: (item: T) => Fault | undefined,
) {
  const ids: string[] = [];
  const errors: (Fault & { id: string })[] = [];
  for (const id of new Set(named)) {
    const item = items.get(id);
    const fault = item === undefined ? notFound(what, id) : act(item);
    if (fault) errors.push({ id, code: fault.code, message: fault.message });
    else ids.push(id);
  }
  const meta = { requested: ids.length + errors.length, succeeded: ids.length, failed: errors.length };
  return { ids, errors, meta };
}

// Texts in requests that must have a certain form.

export const isEmail = (text: string): boolean => /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(text);

/** @throws {Refusal} 422 unless it is an e-mail address. */
export function requireEmail(text: string): void {
  if (!isEmail(text)) throw cannot('invalid_email', `"${text}" is no e-mail address.`);
}

/** @throws {Refusal} 422 unless it is `#rgb` or `#rrggbb`. */
export function requireColor(text: string): void {
  if (!/^#([\da-f]{3}|[\da-f]{6})$/i.test(text)) throw cannot('invalid_color', 'A color is written #rrggbb.');
}

/** A time in the format of the service (spec 1.2), or null if there is none. */
export const shown = (at: number): string => new Date(at).toISOString();

export const shownOrNull = (at: number | null): string | null => (at === null ? null : shown(at));

// The answer of an operation that starts background work (spec 2.1).

/** Creating a staging site answers `queued`, although the task is initializing immediately (spec 4.14). */
export const taskReference = (task: Task, status: string = task.status) => ({
  task: { id: task.id, status, created_at: shown(task.createdAt) },
});

/** @throws {Refusal} 422 `plan_without_<feature>`. */
export function requireFeature({ planLacks }: World, feature: PlanFeature): void {
  if (planLacks.has(feature)) {
    throw cannot(`plan_without_${feature}`, `The account's plan has no ${feature.replace('_', ' ')}.`);
  }
}
