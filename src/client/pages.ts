/**
 * Reads all items of a list, page by page, while the list may be changing.
 *
 * An item that moves to a later page between two requests is not returned twice. An item that moves to an
 * earlier page would be missed: it changed, or another item left the list. So when a round saw fewer items
 * than the service counted, the pages are read again for the rest.
 *
 * If a page does not show the number of pages, the next page is read until one has nothing new. If the
 * service shows no count, a list of several pages is complete when a round finds nothing new.
 *
 * A list that is still incomplete after the last round is reported with both numbers: who reads it decides what
 * follows.
 *
 * A list that was read in part can be read on from there by another process: what was read is known by the
 * names of its items, so that nothing is returned twice or missed, however the list has changed in between.
 */
import { createHash } from 'node:crypto';
import { ContractError } from '../contract/answers.ts';
import type { Item, ListId } from '../contract/operations.ts';
import { operationOf } from '../contract/operations.ts';

/** Fetches one page. The query is empty for a list without pages. */
export type FetchPage = (query: { page?: number; perPage?: number }) => Promise<unknown>;

const PER_PAGE = 100;
const MAX_ROUNDS = 3;

/** How far a list has been read. */
export interface ListPosition {
  round: number;
  /** The page to read next; the first one after the first round, in which only few items are new. */
  page: number;
  /** How many items the service counted in this round. */
  totals: readonly number[];
}

/** What an earlier reading of a list has returned. */
export interface EarlierReading {
  position: ListPosition;
  /** The names of the items. */
  given: Iterable<string>;
}

export interface ListedItem<Id extends ListId> {
  item: Item<Id>;
  /** By which it is known again. */
  name: string;
  /** Where to read on when this item and all before it have been processed. */
  position: ListPosition;
}

/** A list of which fewer items arrived than the service counts. */
export interface Incomplete {
  list: ListId;
  arrived: number;
  counted: number;
}

/** What is to be said of such a list. */
export const sayIncomplete = ({ list, arrived, counted }: Incomplete): string =>
  `${list} is incomplete: ${arrived} of the ${counted} items that the service counts arrived.`;

/** A list is needed as a whole and is known to be incomplete. A later reading may show all of it. */
export class IncompleteListError extends ContractError {
  override readonly code = 'INCOMPLETE_LIST';
  constructor(readonly incomplete: Incomplete) {
    const { list, arrived, counted } = incomplete;
    super(list, 'the list', `is incomplete: ${arrived} of the ${counted} items that it counts arrived`);
  }
}

/** For a reader that needs the whole list. */
export const refuseIncomplete = (incomplete: Incomplete): never => {
  throw new IncompleteListError(incomplete);
};

interface Reading {
  /** Default 3. */
  rounds?: number | undefined;
  /** Called at the end, when fewer items arrived than the service counts. */
  onIncomplete?: ((incomplete: Incomplete) => void) | undefined;
}

const BEGINNING: ListPosition = { round: 1, page: 1, totals: [] };

/**
 * Yields every item once, identified by its `id`, or by its whole content if it has none. Costs one request
 * per 100 items, and at most twice that again when items move. If the service does not show its number of
 * pages, each round costs one request more. Errors are those of `fetchPage`.
 */
export async function* allItems<Id extends ListId>(
  id: Id,
  fetchPage: FetchPage,
  reading: Reading = {},
): AsyncGenerator<Item<Id>> {
  for await (const { item } of readList(id, fetchPage, reading)) yield item;
}

/**
 * The same with the position of each item. With `earlier`, only what that reading has not returned; the page at
 * which it stopped is requested again.
 */
export async function* readList<Id extends ListId>(
  id: Id,
  fetchPage: FetchPage,
  { rounds = MAX_ROUNDS, earlier, onIncomplete }: Reading & { earlier?: EarlierReading | undefined } = {},
): AsyncGenerator<ListedItem<Id>> {
  const { key = '', paged = true } = operationOf(id).list ?? {};
  const given = new Set(earlier?.given);
  if (!paged) {
    const all = named(read(await fetchPage({}), key).items, BEGINNING);
    yield* all.filter(({ name }) => !given.has(name)) as unknown as ListedItem<Id>[];
    return;
  }
  const listed = (items: Page['items'], position: ListPosition) =>
    onlyNew(named(items, position), given) as unknown as Iterable<ListedItem<Id>>;
  let from = earlier?.position ?? BEGINNING;
  let counted = 0;
  for (; from.round <= rounds; from = { ...BEGINNING, round: from.round + 1 }) {
    const { round } = from;
    // What an earlier reading saw in the first round is what it returned.
    const seen = new Set(round === 1 ? given : []);
    const givenBefore = round === 1 ? 0 : given.size;
    const totals = new Set(from.totals);
    for await (const { items, total, page } of pagesOf(key, fetchPage, from.page)) {
      if (total !== undefined) totals.add(total);
      for (const item of items) seen.add(nameOf(item));
      yield* listed(items, positionIn(round, page, totals));
    }
    if (isComplete(seen, totals, given.size > givenBefore)) return;
    counted = leastOf(totals);
  }
  if (given.size < counted) onIncomplete?.({ list: id, arrived: given.size, counted });
}

/** A list that grows while it is read is not missing what was added meanwhile. */
const leastOf = (totals: ReadonlySet<number>): number => (totals.size > 0 ? Math.min(...totals) : 0);

const positionIn = (round: number, page: number, totals: ReadonlySet<number>): ListPosition =>
  round === 1 ? { round, page, totals: [...totals] } : { ...BEGINNING, round };

/** Whether a round has shown everything: it saw as many items as the service counted, or nothing new if it does not count. */
function isComplete(seen: ReadonlySet<string>, totals: ReadonlySet<number>, foundNew: boolean): boolean {
  if (totals.size > 0) return totals.size === 1 && totals.has(seen.size);
  return seen.size < PER_PAGE || !foundNew;
}

/** One round through the pages of a list. */
async function* pagesOf(
  key: string,
  fetchPage: FetchPage,
  from: number,
): AsyncGenerator<Page & { page: number }> {
  const seen = new Set<string>();
  for (let page = from; ; page += 1) {
    const answer = read(await fetchPage({ page, perPage: PER_PAGE }), key);
    yield { ...answer, page };
    const { items } = answer;
    const pages = pagesIn(answer);
    const seenBefore = seen.size;
    for (const item of items) seen.add(nameOf(item));
    // An empty page: the list has become shorter, or reports more pages than it has.
    if (items.length === 0 || (pages === undefined ? seen.size === seenBefore : page >= pages)) return;
  }
}

/** The number of pages, by the number of items if that needs more. */
function pagesIn({ pages, total, perPage }: Page): number | undefined {
  if (pages === undefined || total === undefined) return pages;
  return Math.max(pages, Math.ceil(total / Math.max(1, perPage ?? PER_PAGE)));
}

const named = (items: Page['items'], position: ListPosition) =>
  items.map((item) => ({ item, name: nameOf(item), position }));

/** Those that have not been returned yet. */
function* onlyNew<Named extends { name: string }>(
  items: Iterable<Named>,
  given: Set<string>,
): Generator<Named> {
  for (const one of items) {
    if (given.has(one.name)) continue;
    given.add(one.name);
    yield one;
  }
}

const nameOf = (item: { id?: string }): string =>
  item.id ?? createHash('sha256').update(JSON.stringify(item)).digest('base64url');

/**
 * The number of items in a list. Costs one request, or one per 100 items if the service does not show the
 * number.
 */
export async function countItems(id: ListId, fetchPage: FetchPage): Promise<number> {
  const { key = '', paged = true } = operationOf(id).list ?? {};
  const first = read(await fetchPage(paged ? { perPage: 1 } : {}), key);
  if (first.total !== undefined) return first.total;
  if (!paged) return first.items.length;
  let count = 0;
  for await (const _ of allItems(id, fetchPage)) count += 1;
  return count;
}

interface Page {
  items: { id?: string }[];
  pages: number | undefined;
  total: number | undefined;
  /** How many items a page has at most. */
  perPage: number | undefined;
}

function read(answer: unknown, key: string): Page {
  const { meta, [key]: items } = answer as {
    [key: string]: unknown;
    meta?: { pagination?: { totalPages?: number; totalItems?: number; perPage?: number } };
  };
  return {
    items: items as Page['items'],
    pages: meta?.pagination?.totalPages,
    total: meta?.pagination?.totalItems,
    perPage: meta?.pagination?.perPage,
  };
}
