/**
 * All items of a list, page after page, while the list may be changing under us.
 *
 * An item that moves to a later page between two requests is not given twice; one that moves to an earlier page would be missed,
 * so when fewer items were seen than the service counts, the pages are gone through again for the rest.
 */
import type { Item, ListId } from '../contract/operations.ts';
import { operationOf } from '../contract/operations.ts';

/** Fetches one page, given what to ask for. */
export type FetchPage = (query: { page: number; perPage: number }) => Promise<unknown>;

interface Page {
  meta?: { pagination?: { totalPages?: number; totalItems?: number } };
}

const PER_PAGE = 100;
const MAX_ROUNDS = 3;

/**
 * Yields every item once, by its `id`. Costs one request per 100 items, and at most twice that again when items move.
 * Errors are the fetching function's.
 */
export async function* allItems<Id extends ListId>(id: Id, fetchPage: FetchPage): AsyncGenerator<Item<Id>> {
  const { key = '' } = operationOf(id).list ?? {};
  const seen = new Set<string>();
  for (let round = 1; round <= MAX_ROUNDS; round += 1) {
    let total = 0;
    for (let page = 1, pages = 1; page <= pages; page += 1) {
      const answer = (await fetchPage({ page, perPage: PER_PAGE })) as Page &
        Record<string, { id: string }[]>;
      pages = answer.meta?.pagination?.totalPages ?? 1;
      total = answer.meta?.pagination?.totalItems ?? 0;
      for (const item of answer[key] ?? []) {
        if (seen.has(item.id)) continue;
        seen.add(item.id);
        yield item as Item<Id>;
      }
    }
    if (seen.size >= total) return;
  }
}
