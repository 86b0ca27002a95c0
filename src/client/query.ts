import type { ListQuery, Scalar } from '../contract/list.ts';

/**
 * The query string of a list call (spec 4.1): `filters[field:operator]=value`, and
 * `filters[field:in][]=value`, repeated, for lists. Empty for an empty query.
 */
export function encodeQuery(query: Record<string, unknown> & ListQuery): string {
  const pairs: [string, Scalar][] = [];
  for (const [name, value] of Object.entries(query)) {
    if (name !== 'filters' && value !== undefined) pairs.push([name, value as Scalar]);
  }
  for (const [field, conditions] of Object.entries(query.filters ?? {})) {
    for (const [operator, value] of Object.entries(conditions)) {
      if (Array.isArray(value)) {
        for (const one of value) pairs.push([`filters[${field}:${operator}][]`, one as Scalar]);
      } else if (value !== undefined) pairs.push([`filters[${field}:${operator}]`, value as Scalar]);
    }
  }
  if (pairs.length === 0) return '';
  return `?${new URLSearchParams(pairs.map(([name, value]): [string, string] => [name, String(value)]))}`;
}
