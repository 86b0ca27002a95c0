/**
 * The list protocol (spec 4.1) as data: the filters, operators, values and sorts of each list.
 * `checkListQuery` is the only check of a query, for the client, the command line and the policy loader.
 */
import { z } from 'zod';
import { isTimezone, noSuchDay } from '../dates.ts';
import { formOf, type Kind, wrongId } from './kinds.ts';

export const operators = ['contains', 'eq', 'in', 'gte', 'lte', 'gt', 'lt', 'present'] as const;
export type Operator = (typeof operators)[number];

export const isOperator = (word: string): word is Operator => operators.some((one) => one === word);

/**
 * The values of a filter. `values` is a closed list; `version` is major, major.minor or major.minor.patch.
 */
export interface FilterValue {
  kind: 'text' | 'boolean' | 'timestamp' | 'day' | 'version';
  values?: readonly string[];
  /** What its values are the ids of. */
  idOf?: Kind;
  /**
   * The field of an item that it compares, where that is certain: `connection.status`. Conditions on this field
   * may be sent as the filter.
   */
  shows?: string;
}
export type Filter = FilterValue & { operators: readonly Operator[] };
export type Filters = Readonly<Record<string, Filter>>;

/** The parameters and answer of a list, without its path. */
export interface List<F extends Filters = Filters, S extends string = string> {
  /** The key of the items in the answer. */
  key: string;
  filters: F;
  sorts: readonly S[];
  /** `field,direction`; undefined where the spec has no default order. */
  defaultSort?: `${S},${'asc' | 'desc'}`;
  /** Whether `timezone` is accepted. */
  timezone: boolean;
  /** Whether it takes `page` and `perPage` and returns `meta.pagination`. */
  paged: boolean;
}

/** A filter that compares the field of an item at this path. */
export const field = <const F extends Filter>(shows: string, filter: F): F & { shows: string } => ({
  ...filter,
  shows,
});

/** Any text, compared as a whole or in part. */
export const text = <const O extends Operator[]>(...operators: O) => ({ kind: 'text', operators }) as const;
/** The id of a client, a tag, ... */
export const ids = <const O extends Operator[]>(idOf: Kind, ...operators: O) =>
  ({ kind: 'text', idOf, operators }) as const;
/** One value of a closed list. */
export const oneOf = <const O extends Operator[]>(values: readonly string[], ...operators: O) =>
  ({ kind: 'text', values, operators }) as const;
export const flag = <const O extends Operator[]>(...operators: O) =>
  ({ kind: 'boolean', operators }) as const;
export const listTimestamp = <const O extends Operator[]>(...operators: O) =>
  ({ kind: 'timestamp', operators }) as const;
export const date = <const O extends Operator[]>(...operators: O) => ({ kind: 'day', operators }) as const;
export const versionFilter = <const O extends Operator[]>(...operators: O) =>
  ({ kind: 'version', operators }) as const;

export type Scalar = string | number | boolean;
/** A list query as in a policy or in a call of the client: `filters: { field: { operator: value } }`. */
export interface ListQuery {
  page?: number;
  perPage?: number;
  timezone?: string;
  sort?: string;
  filters?: Record<string, Partial<Record<Operator, Scalar | readonly Scalar[]>>>;
}

/** An error in a query, with its path (`['filters', 'tags', 'in']`) and the allowed names. */
export interface QueryFault {
  path: string[];
  message: string;
  /** The allowed names at this place, for a suggestion. */
  allowed?: readonly string[];
  /** What to write in a policy. */
  suggestion?: string;
  /** Whether the JSON Schema of the input refuses it as well. Not known for a query of a list. */
  form?: boolean;
}

/**
 * Every fault of `query` against `list`. Without faults, the service cannot answer 400 for it (spec 4.1, rule
 * 4). Accepts values of any type, because the input of operators was not checked before.
 */
export function checkListQuery(list: List, query: ListQuery): QueryFault[] {
  return [
    ...checkPaging(list, query),
    ...(query.timezone === undefined ? [] : checkTimezone(list, query.timezone)),
    ...(query.sort === undefined ? [] : checkSort(list, query.sort)),
    ...(query.filters === undefined ? [] : checkFilters(list, query.filters)),
  ];
}

const wholeNumbers = { page: [1, Number.MAX_SAFE_INTEGER], perPage: [1, 100] } as const;

function checkPaging(list: List, query: ListQuery): QueryFault[] {
  return (['page', 'perPage'] as const).flatMap((name): QueryFault[] => {
    const value = query[name];
    if (value === undefined) return [];
    if (!list.paged) return [{ path: [name], message: 'this list is not paged' }];
    const [least, most] = wholeNumbers[name];
    if (Number.isInteger(value) && value >= least && value <= most) return [];
    const upTo = name === 'perPage' ? ` to ${most}` : '';
    return [{ path: [name], message: `is a whole number from ${least}${upTo}` }];
  });
}

function checkTimezone(list: List, timezone: unknown): QueryFault[] {
  const path = ['timezone'];
  if (!list.timezone) return [{ path, message: 'this list does not accept a timezone' }];
  return typeof timezone === 'string' && isTimezone(timezone)
    ? []
    : [{ path, message: 'is a timezone name such as Europe/Berlin' }];
}

function checkSort(list: List, sort: unknown): QueryFault[] {
  const [field = '', direction = '', ...rest] = String(sort).split(',');
  if (!list.sorts.includes(field)) {
    return [{ path: ['sort'], message: `cannot sort by "${field}"`, allowed: list.sorts }];
  }
  if (rest.length > 0 || (direction !== 'asc' && direction !== 'desc')) {
    return [{ path: ['sort'], message: `sort is written "${field},asc" or "${field},desc"` }];
  }
  return [];
}

function checkFilters(list: List, filters: unknown): QueryFault[] {
  if (!isNamed(filters)) return [{ path: ['filters'], message: 'is written { field: { operator: value } }' }];
  return Object.entries(filters).flatMap(([field, conditions]): QueryFault[] => {
    const path = ['filters', field];
    const filter = Object.hasOwn(list.filters, field) ? list.filters[field] : undefined;
    if (!filter) {
      return [{ path, message: `cannot filter by "${field}"`, allowed: Object.keys(list.filters) }];
    }
    if (!isNamed(conditions)) {
      return [{ path, message: 'is written { operator: value }', allowed: filter.operators }];
    }
    return Object.entries(conditions).flatMap(([operator, value]) =>
      checkCondition(filter, [...path, operator], value),
    );
  });
}

const isNamed = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function checkCondition(filter: Filter, path: string[], value: unknown): QueryFault[] {
  const [, field, operator] = path;
  if (!filter.operators.includes(operator as Operator)) {
    return [
      { path, message: `"${field}" does not support the operator "${operator}"`, allowed: filter.operators },
    ];
  }
  if (operator === 'present') return checkValue({ kind: 'boolean' }, value, path);
  if (operator !== 'in') return checkValue(filter, value, path);
  if (!Array.isArray(value)) return [{ path, message: '"in" needs a list' }];
  if (value.length === 0) return [{ path, message: '"in" needs at least one value' }];
  return value.flatMap((one) => checkValue(filter, one, path));
}

const shapes: Record<FilterValue['kind'], { schema: z.ZodType; expected: string }> = {
  text: { schema: z.union([z.string(), z.number(), z.boolean()]), expected: 'a string' },
  boolean: { schema: z.union([z.boolean(), z.enum(['true', 'false'])]), expected: 'true or false' },
  timestamp: {
    schema: z.union([z.iso.datetime({ offset: true, local: true }), z.iso.date()]),
    expected: 'a time such as 2026-11-21T02:00:00Z',
  },
  day: { schema: z.iso.date(), expected: 'a day such as 2026-11-21' },
  version: {
    schema: z.union([z.string().regex(/^\d+(\.\d+){0,2}$/), z.number()]),
    expected: 'a version such as 8 or 8.1',
  },
};

/** The schema of one value of a filter. The values of a closed list are texts. */
export function filterValueSchema({ kind, values, idOf }: FilterValue): z.ZodType {
  if (values) return z.enum(values);
  const form = formOf(idOf);
  return form ? z.union([z.string().regex(form.pattern), z.int().nonnegative()]) : shapes[kind].schema;
}

function checkValue(asked: FilterValue, value: unknown, path: string[]): QueryFault[] {
  if (asked.values && !asked.values.includes(String(value))) {
    return [{ path, message: `"${String(value)}" is not one of its values`, allowed: asked.values }];
  }
  const wrong = wrongId(asked.idOf, value);
  if (wrong) return [{ path, ...wrong }];
  const shape = shapes[asked.kind];
  if (shape.schema.safeParse(value).success) return [];
  const isTime = asked.kind === 'day' || asked.kind === 'timestamp';
  const why = isTime && typeof value === 'string' ? noSuchDay(value) : undefined;
  return [{ path, message: `must be ${shape.expected}${why === undefined ? '' : `: ${why}`}` }];
}
