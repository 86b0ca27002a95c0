/**
 * The common list protocol (spec 4.1) as data: which filters, operators, values and sorts an endpoint takes.
 * `checkListQuery` is the one judge of a query, for the client, the command line and the policy loader alike.
 */
import { z } from 'zod';

export const operators = ['contains', 'eq', 'in', 'gte', 'lte', 'gt', 'lt', 'present'] as const;
export type Operator = (typeof operators)[number];

/** What a filter's value may be. `values` closes the list; `version` is major, major.minor or major.minor.patch. */
export interface FilterValue {
  kind: 'text' | 'boolean' | 'timestamp' | 'day' | 'version';
  values?: readonly string[];
}
export type Filter = FilterValue & { operators: readonly Operator[] };
export type Filters = Readonly<Record<string, Filter>>;

/** What a list endpoint takes and answers, besides its path. */
export interface List<F extends Filters = Filters, S extends string = string> {
  /** The answer's collection key. */
  key: string;
  filters: F;
  sorts: readonly S[];
  /** `field,direction`; none where the spec gives no order. */
  defaultSort?: `${S},${'asc' | 'desc'}`;
  /** Whether `timezone` is accepted. */
  timezone: boolean;
  /** Whether it takes `page` and `perPage` and answers `meta.pagination`. */
  paged: boolean;
}

/** A free text, matched whole or in part. */
export const text = <const O extends Operator[]>(...operators: O) => ({ kind: 'text', operators }) as const;
/** One out of a closed list. */
export const oneOf = <const O extends Operator[]>(values: readonly string[], ...operators: O) =>
  ({ kind: 'text', values, operators }) as const;
export const flag = <const O extends Operator[]>(...operators: O) =>
  ({ kind: 'boolean', operators }) as const;
export const moment = <const O extends Operator[]>(...operators: O) =>
  ({ kind: 'timestamp', operators }) as const;
export const date = <const O extends Operator[]>(...operators: O) => ({ kind: 'day', operators }) as const;
export const version = <const O extends Operator[]>(...operators: O) =>
  ({ kind: 'version', operators }) as const;

export type Scalar = string | number | boolean;
/** A list query as it is written in a policy or given to the client: `filters: { field: { operator: value } }`. */
export interface ListQuery {
  page?: number;
  perPage?: number;
  timezone?: string;
  sort?: string;
  filters?: Record<string, Partial<Record<Operator, Scalar | readonly Scalar[]>>>;
}

/** What is wrong in a query, where (`['filters', 'tags', 'in']`), and what would have been right. */
export interface QueryFault {
  path: string[];
  message: string;
  /** The names that are allowed in the faulty name's place, for a suggestion. */
  allowed?: readonly string[];
}

/** Every fault of `query` against `list`; none means that the service cannot answer 400 for it (spec 4.1, rule 4). */
export function checkListQuery(list: List, query: ListQuery): QueryFault[] {
  const faults: QueryFault[] = [];
  if (!list.paged && (query.page !== undefined || query.perPage !== undefined)) {
    faults.push({ path: ['page'], message: 'this list is not paged' });
  }
  if (query.page !== undefined && !(Number.isInteger(query.page) && query.page >= 1)) {
    faults.push({ path: ['page'], message: 'page is a whole number from 1' });
  }
  if (
    query.perPage !== undefined &&
    !(Number.isInteger(query.perPage) && query.perPage >= 1 && query.perPage <= 100)
  ) {
    faults.push({ path: ['perPage'], message: 'perPage is a whole number from 1 to 100' });
  }
  if (query.timezone !== undefined && !list.timezone) {
    faults.push({ path: ['timezone'], message: 'this list takes no timezone' });
  }
  if (query.sort !== undefined) faults.push(...checkSort(list, query.sort));
  for (const [field, conditions] of Object.entries(query.filters ?? {})) {
    faults.push(...checkFilter(list, field, conditions));
  }
  return faults;
}

function checkSort(list: List, sort: string): QueryFault[] {
  const [field = '', direction = '', ...rest] = sort.split(',');
  if (!list.sorts.includes(field)) {
    return [{ path: ['sort'], message: `cannot sort by "${field}"`, allowed: list.sorts }];
  }
  if (rest.length > 0 || (direction !== 'asc' && direction !== 'desc')) {
    return [{ path: ['sort'], message: `sort is written "${field},asc" or "${field},desc"` }];
  }
  return [];
}

function checkFilter(list: List, field: string, conditions: Record<string, unknown>): QueryFault[] {
  const filter = list.filters[field];
  if (!filter) {
    return [
      {
        path: ['filters', field],
        message: `cannot filter by "${field}"`,
        allowed: Object.keys(list.filters),
      },
    ];
  }
  return Object.entries(conditions).flatMap(([operator, value]): QueryFault[] => {
    const path = ['filters', field, operator];
    if (!filter.operators.includes(operator as Operator)) {
      return [{ path, message: `"${field}" does not take "${operator}"`, allowed: filter.operators }];
    }
    if (operator === 'in' && !Array.isArray(value)) return [{ path, message: '"in" takes a list' }];
    const values: unknown[] = operator === 'in' ? (value as unknown[]) : [value];
    if (values.length === 0) return [{ path, message: '"in" takes at least one value' }];
    const asked: FilterValue = operator === 'present' ? { kind: 'boolean' } : filter;
    return values.flatMap((one) => checkValue(asked, one, path));
  });
}

const shapes: Record<FilterValue['kind'], { schema: z.ZodType; says: string }> = {
  text: { schema: z.union([z.string(), z.number(), z.boolean()]), says: 'a text' },
  boolean: { schema: z.union([z.boolean(), z.enum(['true', 'false'])]), says: 'true or false' },
  timestamp: {
    schema: z.union([z.iso.datetime({ offset: true, local: true }), z.iso.date()]),
    says: 'a moment such as 2026-11-21T02:00:00Z',
  },
  day: { schema: z.iso.date(), says: 'a day such as 2026-11-21' },
  version: {
    schema: z.union([z.string().regex(/^\d+(\.\d+){0,2}$/), z.number()]),
    says: 'a version such as 8 or 8.1',
  },
};

function checkValue(asked: FilterValue, value: unknown, path: string[]): QueryFault[] {
  if (asked.values && !asked.values.includes(String(value))) {
    return [{ path, message: `"${String(value)}" is not one of its values`, allowed: asked.values }];
  }
  const shape = shapes[asked.kind];
  return shape.schema.safeParse(value).success ? [] : [{ path, message: `takes ${shape.says}` }];
}
