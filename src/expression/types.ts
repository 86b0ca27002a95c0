/**
 * Tells CEL what candidates are made of, and turns what the service sent into values of exactly these kinds.
 *
 * What is null is empty, zero or false. What is absent has no value at all: reading it throws
 * `NotShownError`, which CEL treats as any error, so that `a || b` is true where `b` is, whether or not `a`
 * was shown.
 */
import type { Environment } from '@marcbachmann/cel-js';
import type { Field, FieldTree } from './fields.ts';
import { NotShownError } from './not-shown.ts';

const timestamp = 'google.protobuf.Timestamp';

/** A kind of value: its name in CEL, how any value of the service becomes one, and what stands for null. */
interface Kind {
  type: string;
  /** Nothing when it is no such value. */
  read(value: unknown): unknown;
  empty(): unknown;
}

/** A value as CEL takes it; nothing when it was not shown. */
const readAs = (kind: Kind, value: unknown): unknown => (value === null ? kind.empty() : kind.read(value));

/** Declares the variables; gives back what turns items of the service into their values. */
export function declareVariables(
  environment: Environment,
  variables: Readonly<Record<string, FieldTree>>,
): (items: Readonly<Record<string, unknown>>) => Record<string, unknown> {
  mixNumbers(environment);
  const kinds = Object.entries(variables).map(([name, fields]) => {
    const { type, read } = objectKind(environment, name, fields);
    environment.registerVariable(name, type);
    return [name, read] as const;
  });
  // A related item that is not there shows none of its fields.
  return (items) => Object.fromEntries(kinds.map(([name, read]) => [name, read(items[name]) ?? read({})]));
}

function kindOf(environment: Environment, name: string, field: Field): Kind {
  switch (field.kind) {
    case 'string':
      return { type: 'string', read: textOf, empty: () => '' };
    case 'boolean':
      return {
        type: 'bool',
        read: (value) => (typeof value === 'boolean' ? value : undefined),
        empty: () => false,
      };
    case 'number':
      // All numbers are doubles: JSON does not tell 1 from 1.0.
      return {
        type: 'double',
        read: (value) => (typeof value === 'number' ? value : undefined),
        empty: () => 0,
      };
    case 'timestamp':
    case 'day':
      return { type: timestamp, read: toTimestamp, empty: () => new Date(0) };
    case 'list': {
      const of = kindOf(environment, name, field.of);
      return { type: `list<${of.type}>`, read: (value) => toList(value, of), empty: () => [] };
    }
    case 'map': {
      const of = kindOf(environment, name, field.of);
      return { type: `map<string, ${of.type}>`, read: (value) => toMap(value, of), empty: () => new Map() };
    }
    case 'object':
      return objectKind(environment, name, field.fields);
    case 'any':
      return { type: 'dyn', read: (value) => value, empty: () => null };
  }
}

/** CEL knows an object by its class, so each kind of object gets one of its own. */
function objectKind(environment: Environment, name: string, fields: FieldTree): Kind {
  const kinds = Object.entries(fields).map(
    ([key, field]) => ({ key, kind: kindOf(environment, `${name}.${key}`, field), field }) as const,
  );
  const Item = class {};
  environment.registerType(name, {
    ctor: Item,
    fields: Object.fromEntries(kinds.map(({ key, kind: { type } }) => [key, type])),
  });
  const read = (value: unknown) => {
    if (typeof value !== 'object' || value === null) return undefined;
    const given = value as Record<string, unknown>;
    const item = new Item();
    for (const { key, kind, field } of kinds) {
      const found = readAs(kind, given[key]);
      if (found !== undefined) Reflect.set(item, key, found);
      // What the specification itself shows only at times is empty where it is absent.
      else if (field.optional && given[key] === undefined) Reflect.set(item, key, kind.empty());
      else Object.defineProperty(item, key, { get: () => notShown(`${name}.${key}`), enumerable: true });
    }
    return item;
  };
  const empty = () =>
    Object.assign(new Item(), Object.fromEntries(kinds.map(({ key, kind }) => [key, kind.empty()])));
  return { type: name, read, empty };
}

function notShown(field: string): never {
  throw new NotShownError(field);
}

const textOf = (value: unknown): string | undefined =>
  value === undefined || typeof value === 'object' ? undefined : String(value);

function toTimestamp(value: unknown): Date | undefined {
  const moment = new Date(typeof value === 'string' ? value : Number.NaN);
  return Number.isNaN(moment.getTime()) ? undefined : moment;
}

/** Items that cannot be read make the whole list one that was not shown. */
function toList(value: unknown, of: Kind): unknown[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const items = value.map((item) => readAs(of, item));
  return items.includes(undefined) ? undefined : items;
}

function toMap(value: unknown, of: Kind): Map<string, unknown> | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const entries = Object.entries(value).map(([key, inner]) => [key, readAs(of, inner)] as const);
  return entries.some(([, inner]) => inner === undefined) ? undefined : new Map(entries);
}

/** Lets `site.backups.available_snapshots == 5` be written without a decimal point. */
function mixNumbers(environment: Environment): void {
  environment.registerOperator('double == int', (a: number, b: bigint) => a === Number(b));
  environment.registerOperator('double in list<int>', (a: number, list: bigint[]) =>
    list.some((b) => a === Number(b)),
  );
  const calculations: Record<string, (a: number, b: number) => number> = {
    '+': (a, b) => a + b,
    '-': (a, b) => a - b,
    '*': (a, b) => a * b,
    '/': (a, b) => a / b,
  };
  for (const [sign, calculate] of Object.entries(calculations)) {
    environment.registerOperator(`double ${sign} int`, (a: number, b: bigint) => calculate(a, Number(b)));
    environment.registerOperator(`int ${sign} double`, (a: bigint, b: number) => calculate(Number(a), b));
  }
}
