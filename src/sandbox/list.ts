/**
 * The generic list engine: filters, sorts and selects a page, driven by the contract's declaration of the
 * list.
 */
import type { Filter, List, ListQuery, Operator } from '../contract/list.ts';
import { daysAfter, firstAt, isTimezone, startOfDay } from '../dates.ts';
import { malformed } from './refusal.ts';

// Times in filters: with an offset, or as local time or a day in a timezone (spec 4.1).

/** @throws {Refusal} 400 unless this machine knows the timezone. */
export function requireTimezone(name: string): void {
  if (!isTimezone(name)) throw malformed(`there is no timezone "${name}"`);
}

/**
 * The first and the last time of a filter's value: equal for a time, different for a day. A local time that
 * occurs twice means the first one; a local time that is skipped means the time of the change.
 *
 * So `created_at:lte=2026-11-21` includes that day (our choice; the spec shows no plain days for timestamps).
 */
export function timestampsOf(value: string, timezone: string): { first: number; last: number } {
  if (/(Z|[+-]\d{2}:\d{2})$/i.test(value)) {
    const at = Date.parse(value);
    return { first: at, last: at };
  }
  if (value.includes('T')) {
    const at = firstAt(timezone, Date.parse(`${value}Z`));
    return { first: at, last: at };
  }
  return {
    first: startOfDay(timezone, value),
    last: startOfDay(timezone, daysAfter(value, 1)) - 1,
  };
}

/**
 * Compares a version with that of a filter, part by part and only to the precision of the filter (our
 * choice): 8.1.27 equals 8 and 8.1, and is neither greater nor less. Negative: lower than the filter's.
 */
export function compareVersion(version: string, asked: string): number {
  const parts = version.split('.');
  for (const [at, part] of asked.split('.').entries()) {
    const difference = Number(parts[at] ?? 0) - Number(part);
    if (difference !== 0) return difference;
  }
  return 0;
}

// Compiles the filters of a query into one test of an item.

/**
 * The value of a field of an item. Of several values it is enough that one matches. Times are milliseconds.
 */
export type FieldValue = string | number | boolean | null | readonly string[];

/**
 * How each filter and sort of a list reads its field. It does not compile if one of the contract is missing.
 */
export type Fields<L extends List, T> = {
  readonly [F in (keyof L['filters'] & string) | L['sorts'][number]]: (item: T) => FieldValue;
};

/** Returns whether an item passes every filter of the query, which has been checked against the list. */
export function compileFilters<T>(
  list: List,
  query: ListQuery,
  fields: Readonly<Record<string, (item: T) => FieldValue>>,
): (item: T) => boolean {
  const tests: ((item: T) => boolean)[] = [];
  for (const [field, conditions] of Object.entries(query.filters ?? {})) {
    const filter = list.filters[field];
    const read = fields[field];
    if (!filter || !read) throw new Error(`The sandbox cannot read the field "${field}".`);
    const timezone = isZoned(list, field) ? (query.timezone ?? 'UTC') : 'UTC';
    for (const [operator, asked] of Object.entries(conditions)) {
      const passes = condition(filter, operator as Operator, asked, timezone);
      tests.push((item) => passes(read(item)));
    }
  }
  return (item) => tests.every((test) => test(item));
}

/** The timezone interprets created_at filters, and for the site list all of its timestamps (spec 4.1). */
const isZoned = (list: List, field: string) => field === 'created_at' || list.key === 'sites';

function condition(filter: Filter, operator: Operator, asked: unknown, timezone: string): Test {
  if (operator === 'in') {
    const wanted = new Set((asked as unknown[]).map(String));
    return some((value) => wanted.has(String(value)));
  }
  const text = String(asked);
  if (operator === 'present') return (value) => (value !== null && value !== '') === (text === 'true');
  if (operator === 'contains') {
    const part = text.toLowerCase();
    return some((value) => String(value).toLowerCase().includes(part));
  }
  return some(comparison(filter, operator, text, timezone));
}

type Test = (value: FieldValue) => boolean;
type OneTest = (value: string | number | boolean) => boolean;
type Comparison = 'eq' | 'gte' | 'lte' | 'gt' | 'lt';

/** A missing value never matches; of several values one is enough. */
const some =
  (test: OneTest): Test =>
  (value) => {
    if (value === null) return false;
    return typeof value === 'object' ? value.some(test) : test(value);
  };

function comparison(filter: Filter, operator: Comparison, asked: string, timezone: string): OneTest {
  const holds = comparisons[operator];
  if (filter.kind === 'version') return (value) => holds(compareVersion(String(value), asked));
  if (filter.kind === 'timestamp') {
    const { first, last } = timestampsOf(asked, timezone);
    const bound = operator === 'lte' || operator === 'gt' ? last : first;
    return (value) => holds(Number(value) - bound);
  }
  return (value) => holds(order(String(value), asked));
}

const comparisons: Record<Comparison, (difference: number) => boolean> = {
  eq: (difference) => difference === 0,
  gte: (difference) => difference >= 0,
  lte: (difference) => difference <= 0,
  gt: (difference) => difference > 0,
  lt: (difference) => difference < 0,
};

/** By code units, so that it is the same on every machine. */
export const order = (left: string, right: string): number => (left < right ? -1 : left > right ? 1 : 0);

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

// Parses the query string of the list protocol (spec 4.1) into the form that the contract checks.

type Parameters = Record<string, unknown> & ListQuery;

/**
 * Parameters that are no filters are passed on unchanged, page numbers as numbers. The contract's check then
 * decides which of them the list takes.
 *
 * @throws {Refusal} 400 for what cannot be represented: a malformed filter name, a parameter given twice.
 */
export function readListQuery(list: List, search: URLSearchParams): Parameters {
  const query: Parameters = {};
  for (const [name, value] of search) {
    if (name.startsWith('filters')) addFilter(list, query, name, value);
    else addParameter(query, name, value);
  }
  return query;
}

function addParameter(query: Parameters, name: string, value: string): void {
  if (Object.hasOwn(query, name)) throw malformed(`"${name}" is given more than once`);
  const isNumber = name === 'page' || name === 'perPage';
  // Defined rather than assigned, so that "__proto__" is an ordinary unknown name.
  Object.defineProperty(query, name, {
    value: isNumber ? wholeNumber(value) : value,
    enumerable: true,
  });
}

const wholeNumber = (text: string): number => (/^\d+$/.test(text) ? Number(text) : Number.NaN);

/** `filters[field:operator]=value`, and `filters[field:in][]=value` once per value. */
const filterName = /^filters\[([^:[\]]+):([^:[\]]+)\](\[\])?$/;

function addFilter(list: List, query: Parameters, name: string, value: string): void {
  const [, field, operator, many] = filterName.exec(name) ?? [];
  if (field === undefined || operator === undefined) {
    throw malformed(`a filter is written filters[field:operator], not "${name}"`);
  }
  // Names come from outside, and every object has a "constructor".
  if (!Object.hasOwn(list.filters, field)) throw malformed(`cannot filter by "${field}"`);
  query.filters ??= {};
  query.filters[field] ??= Object.create(null) as Record<string, never>;
  const conditions = query.filters[field] as Record<string, string | string[]>;
  const before = conditions[operator];
  if (many === undefined) {
    if (before !== undefined) throw malformed(`"${name}" is given more than once`);
    conditions[operator] = value;
    return;
  }
  if (before !== undefined && !Array.isArray(before)) throw malformed(`"${name}" is given in two ways`);
  conditions[operator] = [...(before ?? []), value];
}
