/**
 * All items of a list, page after page, while the list may be changing under us.
 *
 * An item that moves to a later page between two requests is not given twice. One that moves to an earlier
 * page, because it changed or because another one left the list, would be missed: so when a round did not see
 * as many items as the service counted all along, the pages are gone through again for the rest.
 *
 * A page that does not show how many pages there are is no proof that the list ends with it: the next page is
 * asked for until one has nothing new. Where no count is shown, a list of several pages is whole when a round
 * finds nothing new.
 */
import type { Item, ListId } from '../contract/operations.ts';
import { operationOf } from '../contract/operations.ts';

/** Fetches one page, given what to ask for: nothing, where the list is not paged. */
export type FetchPage = (query: { page?: number; perPage?: number }) => Promise<unknown>;

const PER_PAGE = 100;
const MAX_ROUNDS = 3;

/**
 * Yields every item once, by its `id`, or, where items have none, by all that it says; a list without pages
 * as it is. Costs one request per 100 items, and at most twice that again when items move; one more a round
 * where the service does not show its number of pages. Errors are the fetching function's.
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
    // An empty page: the list has shrunk under us, or counts more pages than it has.
    if (items.length === 0 || (pages === undefined ? seen.size === seenBefore : page >= pages)) return;
  }
}

/** The items that have not been given yet. */
function* onlyNew(items: Page['items'], given: Set<string>): Generator<Page['items'][number]> {
  for (const item of items) {
    if (given.has(nameOf(item))) continue;
    given.add(nameOf(item));
    yield item;
  }
}

const nameOf = (item: { id?: string }): string => item.id ?? JSON.stringify(item);

/** How many items a list has. Costs one request; where the service does not show it, one per 100 items. */
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
