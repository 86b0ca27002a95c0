/**
 * Finds filter conditions on one field that exclude each other, such as
 * `created_at: { gte: 2026-12-01, lte: 2026-11-01 }`.
 */
import type { FilterValue, List, Operator, Scalar } from '../contract/list.ts';
import { DAY_MS } from '../dates.ts';

type Conditions = Readonly<Partial<Record<Operator, Scalar | readonly Scalar[]>>>;
type Kind = FilterValue['kind'];

export interface Contradiction {
  /** Starts with `filters`. */
  path: string[];
  message: string;
}

/** One contradiction for each field that has one. Fields that the list does not filter by are ignored. */
export const contradictions = (list: List, filters: Readonly<Record<string, Conditions>>): Contradiction[] =>
  Object.entries(filters).flatMap(([field, conditions]) => {
    const kind = Object.hasOwn(list.filters, field) ? list.filters[field]?.kind : undefined;
    const pair = kind && excluding(kind, conditions);
    if (!pair) return [];
    const [one, other] = pair;
    return [
      {
        path: ['filters', field, other],
        message: `No item can meet both "${one}" and "${other}" of "${field}".`,
      },
    ];
  });

/** Two operators whose conditions no value meets at the same time. */
function excluding(kind: Kind, conditions: Conditions): [Operator, Operator] | undefined {
  const given = (operators: readonly Operator[]) =>
    operators.filter((one) => scalar(conditions[one]) !== undefined);
  for (const low of given(['gte', 'gt'])) {
    for (const high of given(['lte', 'lt'])) {
      const order = compare(kind, conditions[low], conditions[high]);
      const touching = low === 'gte' && high === 'lte';
      if (order !== undefined && (order > 0 || (order === 0 && !touching))) return [low, high];
    }
  }
  return excludedByValue(kind, conditions) ?? absentButCompared(conditions);
}

const outside: Partial<Record<Operator, (order: number) => boolean>> = {
  gte: (order) => order < 0,
  gt: (order) => order <= 0,
  lte: (order) => order > 0,
  lt: (order) => order >= 0,
};

/** `eq` with a condition that its value does not meet. */
function excludedByValue(kind: Kind, conditions: Conditions): [Operator, Operator] | undefined {
  const value = scalar(conditions.eq);
  if (value === undefined) return undefined;
  for (const [operator, excludes] of Object.entries(outside)) {
    const order = compare(kind, value, conditions[operator as Operator]);
    if (order !== undefined && excludes?.(order)) return ['eq', operator as Operator];
  }
  const among = conditions.in;
  if (Array.isArray(among) && !among.map(String).includes(String(value))) return ['eq', 'in'];
  const part = scalar(conditions.contains);
  const has = String(value).toLowerCase().includes(String(part).toLowerCase());
  return part !== undefined && !has ? ['eq', 'contains'] : undefined;
}

function absentButCompared({ present, ...others }: Conditions): [Operator, Operator] | undefined {
  const [other] = Object.keys(others) as Operator[];
  return String(present) === 'false' && other ? ['present', other] : undefined;
}

const scalar = (value: Conditions[Operator]): Scalar | undefined =>
  typeof value === 'object' ? undefined : value;

/** The order of two values; undefined when it is not certain. */
function compare(kind: Kind, one: unknown, other: unknown): number | undefined {
  const [a, b] = [one, other].map((value) => (value === undefined ? undefined : String(value)));
  if (a === undefined || b === undefined || typeof one === 'object' || typeof other === 'object')
    return undefined;
  if (kind === 'version') return versionOrder(a, b);
  if (kind === 'day') return Math.sign(Date.parse(a) - Date.parse(b));
  if (kind === 'timestamp') return timestampOrder(a, b);
  return undefined;
}

/** 8 and 8.1 have no certain order: 8 may match every version that begins with it. */
function versionOrder(a: string, b: string): number | undefined {
  const [shorter, longer] = a.length < b.length ? [a, b] : [b, a];
  if (longer.startsWith(`${shorter}.`)) return undefined;
  const [one, other] = [a, b].map((version) => version.split('.').map(Number));
  const at = one?.findIndex((part, i) => part !== other?.[i]) ?? -1;
  return at < 0 ? 0 : Math.sign((one?.[at] ?? 0) - (other?.[at] ?? 0));
}

/** A day, or a time without a zone, can be in any time zone: only a difference of two days is certain. */
const zoned = /(Z|[+-]\d{2}:?\d{2})$/i;

function timestampOrder(a: string, b: string): number | undefined {
  const alike = a.length === b.length && !zoned.test(a) && !zoned.test(b);
  const apart = Date.parse(a) - Date.parse(b);
  if (Number.isNaN(apart)) return undefined;
  const certain = alike || (zoned.test(a) && zoned.test(b)) || Math.abs(apart) > 2 * DAY_MS;
  // For the service, one bound may be the start of the day and the other its end.
  if (apart === 0 && !a.includes('T')) return undefined;
  return certain ? Math.sign(apart) : undefined;
}
