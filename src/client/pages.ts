/**
 * Reads all items of a list, page by page, while the list may be changing.
 *
 * An item that moves to a later page between two requests is not returned twice. An item that moves to an
 * earlier page would be missed: it changed, or another item left the list. So when a round saw fewer items
 * than the service counted, the pages are read again for the rest.
 *
 * If a page does not show the number of pages, the next page is read until one has nothing new. If the
 * service shows no count, a list of several pages is complete when a round finds nothing new.
 */
import type { Item, ListId } from '../contract/operations.ts';
import { operationOf } from '../contract/operations.ts';

/** Fetches one page. The query is empty for a list without pages. */
export type FetchPage = (query: { page?: number; perPage?: number }) => Promise<unknown>;

const PER_PAGE = 100;
const MAX_ROUNDS = 3;

/**
 * Yields every item once, identified by its `id`, or by its whole content if it has none. Costs one request
 * per 100 items, and at most twice that again when items move. If the service does not show its number of
 * pages, each round costs one request more. Errors are those of `fetchPage`.
 */
export async function* allItems<Id extends ListId>(
  id: Id,
  fetchPage: FetchPage,
  rounds: number = MAX_ROUNDS,
): AsyncGenerator<Item<Id>> {
  const { key = '', paged = true } = operationOf(id).list ?? {};
  if (!paged) {
    yield* read(await fetchPage({}), key).items as unknown as Item<Id>[];
    return;
  }
  const given = new Set<string>();
  for (let round = 1; round <= rounds; round += 1) {
    const givenBefore = given.size;
    const seen = new Set<string>();
    const totals = new Set<number>();
    for await (const { items, total } of pagesOf(key, fetchPage)) {
      if (total !== undefined) totals.add(total);
      for (const item of items) seen.add(nameOf(item));
      yield* onlyNew(items, given) as Iterable<Item<Id>>;
    }
    const isCounted = totals.size > 0;
    if (isCounted && totals.size === 1 && totals.has(seen.size)) return;
    if (!isCounted && (seen.size < PER_PAGE || given.size === givenBefore)) return;
  }
}

/** One round through the pages of a list. */
async function* pagesOf(key: string, fetchPage: FetchPage): AsyncGenerator<Page> {
  const seen = new Set<string>();
  for (let page = 1; ; page += 1) {
    const answer = read(await fetchPage({ page, perPage: PER_PAGE }), key);
    yield answer;
    const { items, pages } = answer;
    const seenBefore = seen.size;
    for (const item of items) seen.add(nameOf(item));
    // An empty page: the list has become shorter, or reports more pages than it has.
    if (items.length === 0 || (pages === undefined ? seen.size === seenBefore : page >= pages)) return;
  }
}

/** The items that have not been returned yet. */
function* onlyNew(items: Page['items'], given: Set<string>): Generator<Page['items'][number]> {
  for (const item of items) {
    if (given.has(nameOf(item))) continue;
    given.add(nameOf(item));
    yield item;
  }
}

const nameOf = (item: { id?: string }): string => item.id ?? JSON.stringify(item);

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
}

function read(answer: unknown, key: string): Page {
  const { meta, [key]: items } = answer as {
    [key: string]: unknown;
    meta?: { pagination?: { totalPages?: number; totalItems?: number } };
  };
  return {
    items: items as Page['items'],
    pages: meta?.pagination?.totalPages,
    total: meta?.pagination?.totalItems,
  };
}
