/**
 * The generic list engine: filters, sorts and selects a page, driven by the contract's declaration of the
 * list.
 */
import type { List, ListQuery } from '../../contract/list.ts';
import { compileFilters, type FieldValue, order } from './filters.ts';

/** What is wrong with the pages of a list. */
export interface PageFaults {
  /** An item was added before the pages after the first, so that they begin one item earlier. */
  itemsMove?: boolean;
  /** Each page after the first shows what the page before should have shown. */
  isUnstable?: boolean;
  /** It shows only one page in its number of pages. */
  isShort?: boolean;
}

export interface Page<T> {
  items: T[];
  pagination: { page: number; perPage: number; totalPages: number; totalItems: number };
}

type Read<T> = (item: T) => FieldValue;

/**
 * The page of a checked query. A page beyond the last is empty; a list without pages is returned as a whole.
 */
export function cutPage<T>(
  list: List,
  query: ListQuery,
  items: Iterable<T>,
  fields: Readonly<Record<string, Read<T>>>,
  { itemsMove, isUnstable, isShort }: PageFaults = {},
): Page<T> {
  const passes = compileFilters(list, query, fields);
  const kept: T[] = [];
  for (const item of items) if (passes(item)) kept.push(item);
  const sorted = sortItems(kept, query.sort ?? list.defaultSort, fields);

  const { page = 1, perPage = 100 } = query;
  const totalItems = sorted.length;
  const pagination = { page, perPage, totalPages: isShort ? 1 : Math.ceil(totalItems / perPage), totalItems };
  if (!list.paged) return { items: sorted, pagination };
  const earlier = (itemsMove ? 1 : 0) + (isUnstable ? perPage : 0);
  const from = (page - 1) * perPage - (page > 1 ? earlier : 0);
  return { items: sorted.slice(from, from + perPage), pagination };
}

/** Stable in both directions: equal items stay in order of creation. Items without a value come last. */
function sortItems<T>(items: T[], sort: string | undefined, fields: Readonly<Record<string, Read<T>>>): T[] {
  if (sort === undefined) return items;
  const [field = '', direction] = sort.split(',');
  const read = fields[field];
  if (!read) throw new Error(`The sandbox cannot sort by "${field}".`);
  const sign = direction === 'desc' ? -1 : 1;
  // Values are read once per item, not once per comparison.
  return items
    .map((item) => ({ item, value: read(item) }))
    .sort((left, right) => compareValues(left.value, right.value, sign))
    .map(({ item }) => item);
}

function compareValues(left: FieldValue, right: FieldValue, sign: number): number {
  if (left === null || right === null) return Number(left === null) - Number(right === null);
  if (typeof left === 'number' && typeof right === 'number') return sign * (left - right);
  return sign * order(String(left), String(right));
}
