/**
 * All items of a list, page after page, while the list may be changing under us.
 *
 * An item that moves to a later page between two requests is not given twice; one that moves to an earlier page would
 * be missed, so when fewer items were seen than the service counts, the pages are gone through again for the rest.
 */
import type { Item, ListId } from '../contract/operations.ts';
import { operationOf } from '../contract/operations.ts';

/** Fetches one page, given what to ask for: nothing, where the list is not paged. */
export type FetchPage = (query: { page?: number; perPage?: number }) => Promise<unknown>;

const PER_PAGE = 100;
const MAX_ROUNDS = 3;

/**
 * Yields every item once, by its `id`. Costs one request per 100 items, and at most twice that again when items move.
 * Errors are the fetching function's.
 */
export async function* allItems<Id extends ListId>(id: Id, fetchPage: FetchPage): AsyncGenerator<Item<Id>> {
  const { key = '', paged = true } = operationOf(id).list ?? {};
  const seen = new Set<string>();
  for (let round = 1; round <= MAX_ROUNDS; round += 1) {
    let total = 0;
    for (let page = 1, pages = 1; page <= pages; page += 1) {
      const answer = read(await fetchPage(paged ? { page, perPage: PER_PAGE } : {}), key);
      pages = answer.pages;
      total = answer.total;
      for (const item of answer.items) {
        if (seen.has(item.id)) continue;
        seen.add(item.id);
        yield item as Item<Id>;
      }
      // The list has shrunk under us, or counts more pages than it has.
      if (answer.items.length === 0) break;
    }
    if (seen.size >= total) return;
  }
}

function read(answer: unknown, key: string): { items: { id: string }[]; pages: number; total: number } {
  const page = answer as Record<string, { id: string }[]> & {
    meta?: { pagination: { totalPages: number; totalItems: number } };
  };
  const { totalPages = 1, totalItems = 0 } = page.meta?.pagination ?? {};
  return { items: page[key] ?? [], pages: totalPages, total: totalItems };
}
