/**
 * Parts of `select.where` that the list can apply itself: they are sent to it as filters, so that fewer pages have
 * to be read. The condition is evaluated on what comes back all the same. So a filter may let more through than
 * its part of the condition, but never less:
 *
 * - Only filters are used of which the contract says which field they compare (`shows`).
 * - Texts are compared as a whole, and an empty text, which stands for null and absent, is not sent.
 * - Times are widened by a minute, because the list may compare them with another precision, or by another clock.
 *   With `select.timezone` they are not sent.
 * - A filter of the policy itself stays as it is.
 *
 * An item that does not show the field counts as unknown here, and is recorded as skipped; the list excludes it, or
 * knows better. So nothing is sent for a job that reports what is selected.
 */
import { checkListQuery, type Filter, type List, type Operator } from '../../contract/list.ts';
import { operationOf } from '../../contract/operations.ts';
import { DAY_MS } from '../../dates.ts';
import type { Requirement } from '../../expression/required.ts';
import { isList } from '../../job/candidates.ts';
import { candidatesOf } from '../../job/source.ts';
import type { Policy } from '../../policy/policy.ts';
import { compileWhereOf } from '../../policy/where.ts';
import type { Planning, PushedFilter } from './planning.ts';

type Filters = Policy['select']['filters'];
type Value = string | boolean | string[];

const MARGIN_MS = 60_000;
/** Longer values would make the address of the request too long. */
const MAX_VALUES = 20;
const MAX_LENGTH = 200;

/**
 * The filters for a policy's condition; none if a part of the plan needs the other candidates. Costs nothing, or
 * what `serviceNow` costs when the condition compares a time with `now`.
 */
export async function pushedFilters(
  { policy: { select }, job, only, again }: Planning,
  serviceNow: () => Promise<number>,
): Promise<PushedFilter[]> {
  const { where, filters, forEach, timezone } = select;
  const from = candidatesOf(job, select);
  const list = isList(from) ? operationOf(from).list : undefined;
  // A requested id is reported with the reason why it is not selected. What a check does not select counts as
  // resolved, so it looks at every item itself: one that does not show the field is unknown, and not resolved.
  if (
    where === undefined ||
    (only && !again) ||
    again?.withoutFilters ||
    forEach ||
    job.reportsSelection ||
    !list
  )
    return [];
  const { required, timeOf } = compileWhereOf(job, select, where);
  const pushed: PushedFilter[] = [];
  for (const one of required) {
    const found = filterFor(list, one);
    if (!found || isTaken(found, [...pushed, ...conditionsIn(filters)], list)) continue;
    const { field, operator } = found;
    const isTime = one.is === 'from' || one.is === 'until';
    if (isTime && timezone !== undefined) continue;
    const now = new Date(isTime && one.usesNow ? await serviceNow() : 0);
    const value = isTime ? widened(timeOf(one, now), one.is) : valueFor(one, operator);
    if (value !== undefined) pushed.push({ field, operator, value, text: one.text });
  }
  return checkListQuery(list, { filters: withPushed(filters, pushed) as never }).length === 0 ? pushed : [];
}

/** The policy's filters and those of its condition. */
export function withPushed(filters: Filters, pushed: readonly PushedFilter[]): Filters {
  const all: Filters = { ...filters };
  for (const { field, operator, value } of pushed) all[field] = { ...all[field], [operator]: value };
  return all;
}

function filterFor(list: List, { is, path }: Requirement): { field: string; operator: Operator } | undefined {
  const shows = path.join('.');
  for (const [field, filter] of Object.entries(list.filters)) {
    const operator = filter.shows === shows ? operatorFor(filter, is) : undefined;
    if (operator) return { field, operator };
  }
  return undefined;
}

function operatorFor({ operators }: Filter, is: Requirement['is']): Operator | undefined {
  const wanted: Record<Requirement['is'], Operator[]> = {
    equals: ['eq', 'in'],
    several: ['in'],
    has: ['in'],
    from: ['gte'],
    until: ['lte'],
  };
  return wanted[is].find((operator) => operators.includes(operator));
}

const conditionsIn = (filters: Filters): { field: string; operator: string }[] =>
  Object.entries(filters).flatMap(([field, conditions]) =>
    Object.keys(conditions).map((operator) => ({ field, operator })),
  );

/** Two conditions on one field are sent only as the two bounds of a time. */
const isTaken = (
  { field, operator }: { field: string; operator: string },
  others: readonly { field: string; operator: string }[],
  { filters }: List,
): boolean =>
  others.some(
    (one) => one.field === field && (one.operator === operator || filters[field]?.kind !== 'timestamp'),
  );

function valueFor(required: Requirement, operator: Operator): Value | undefined {
  if ('time' in required) return undefined;
  const values = required.is === 'several' ? required.values : [required.value];
  if (!isShort(values.map(String))) return undefined;
  return operator === 'in' ? values.map(String) : values[0];
}

const isShort = (values: readonly string[]): boolean =>
  values.length <= MAX_VALUES && values.every(({ length }) => length <= MAX_LENGTH);

function widened(time: number | undefined, is: 'from' | 'until'): string | undefined {
  const bound = (time ?? Number.NaN) + (is === 'from' ? -MARGIN_MS : MARGIN_MS);
  // A time that is null counts as 1970, and the list may not return it.
  if (!(bound > DAY_MS)) return undefined;
  return new Date(bound).toISOString().replace(/\.\d+Z$/, 'Z');
}
