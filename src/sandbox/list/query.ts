/** Parses the query string of the list protocol (spec 4.1) into the form that the contract checks. */
import type { List, ListQuery } from '../../contract/list.ts';
import { malformed } from '../refusal.ts';

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
