/**
 * All items of a list, page after page, while the list may be changing under us.
 *
 * An item that moves to a later page between two requests is not given twice. One that moves to an earlier page, because
 * it changed or because another one left the list, would be missed: so when a round did not see as many items as the
 * service counted all along, the pages are gone through again for the rest.
 */
import type { Item, ListId } from '../contract/operations.ts';
import { operationOf } from '../contract/operations.ts';

/** Fetches one page, given what to ask for: nothing, where the list is not paged. */
export type FetchPage = (query: { page?: number; perPage?: number }) => Promise<unknown>;

const PER_PAGE = 100;
const MAX_ROUNDS = 3;

/**
 * Yields every item once, by its `id`, or, where items have none, by all that it says; a list without pages as it is. Costs one request per 100 items, and at most twice
 * that again when items move. Errors are the fetching function's.
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
    const seen = new Set<string>();
    const totals = new Set<number>();
    for (let page = 1, pages = 1; page <= pages; page += 1) {
      const answer = read(await fetchPage({ page, perPage: PER_PAGE }), key);
      pages = answer.pages;
      totals.add(answer.total);
      for (const item of answer.items) {
        const name = item.id ?? JSON.stringify(item);
        seen.add(name);
        if (given.has(name)) continue;
        given.add(name);
        yield item as Item<Id>;
      }
      // The list has shrunk under us, or counts more pages than it has.
      if (answer.items.length === 0) break;
    }
    if (totals.size === 1 && totals.has(seen.size)) return;
  }
}

function read(answer: unknown, key: string): { items: { id?: string }[]; pages: number; total: number } {
  const page = answer as Record<string, { id?: string }[]> & {
    meta?: { pagination: { totalPages: number; totalItems: number } };
  };
  const { totalPages = 1, totalItems = 0 } = page.meta?.pagination ?? {};
  return { items: page[key] ?? [], pages: totalPages, total: totalItems };
}
