/** Compiles the filters of a query into one test of an item. */
import type { Filter, List, ListQuery, Operator } from '../../contract/list.ts';
import { timestampsOf } from './timestamps.ts';
import { compareVersion } from './versions.ts';

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
