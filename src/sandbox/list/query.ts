/** Reads the list protocol's query string (spec 4.1) into the form that the contract judges. */
import { checkListQuery, type List, type ListQuery } from '../../contract/list.ts';
import { malformed } from '../refusal.ts';
import { requireTimezone } from './moments.ts';

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/**
 * Nothing is silently dropped: parameters the list does not know, given twice or empty are refused too.
 *
 * @throws {Refusal} 400 with every fault in one sentence each.
 */
export function readListQuery(list: List, search: URLSearchParams): ListQuery {
  const query: Mutable<ListQuery> = {};
  for (const [name, value] of search) {
    if (name.startsWith('filters[')) addFilter(list, query, name, value);
    else addParameter(query, name, value);
  }
  const faults = checkListQuery(list, query);
  if (faults.length > 0) throw malformed(faults.map(({ message }) => message).join('; '));
  if (query.timezone !== undefined) requireTimezone(query.timezone);
  return query;
}

function addParameter(query: Mutable<ListQuery>, name: string, value: string): void {
  if (name !== 'page' && name !== 'perPage' && name !== 'timezone' && name !== 'sort') {
    throw malformed(`there is no parameter "${name}"`);
  }
  if (query[name] !== undefined) throw malformed(`"${name}" is given more than once`);
  if (name === 'page' || name === 'perPage') query[name] = /^\d+$/.test(value) ? Number(value) : Number.NaN;
  else query[name] = value;
}

/** `filters[field:operator]=value`, and `filters[field:in][]=value` as often as there are values. */
const filterName = /^filters\[([^:[\]]+):([^:[\]]+)\](\[\])?$/;

function addFilter(list: List, query: Mutable<ListQuery>, name: string, value: string): void {
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
