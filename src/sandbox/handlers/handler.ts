/**
 * The arguments and result of an operation's handler. Each operation has one small handler; `table.ts` has
 * all of them.
 */
import type { z } from 'zod';
import type { List, ListQuery } from '../../contract/list.ts';
import type { Operation, PathParameters } from '../../contract/operation.ts';
import type { Answer, Item, ListId, OperationId, Operations } from '../../contract/operations.ts';
import type { Fields } from '../list/filters.ts';
import { cutPage, type PageFaults } from '../list/page.ts';
import type { World } from '../model/world.ts';

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
export interface Listing<Id extends ListId, T> {
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
