/**
 * Declares the types of candidates to CEL, and converts what the service sent to values of these types.
 *
 * A null value becomes empty, zero or false. An absent value has no value: reading it throws `NotShownError`,
 * which CEL treats like any error. So `a || b` is true if `b` is, whether or not `a` was shown.
 */
import type { Environment } from '@marcbachmann/cel-js';
import { type Field, type FieldTree, fieldOfVariable, NotShownError, type Variables } from './fields.ts';

const timestamp = 'google.protobuf.Timestamp';

/** A type of value: its name in CEL, how a value of the service is converted to it, and what null becomes. */
interface Kind {
  type: string;
  /** Undefined when the value has another type. */
  read(value: unknown): unknown;
  empty(): unknown;
}

/** A value for CEL; undefined when it was not shown. */
const readAs = (kind: Kind, value: unknown): unknown => (value === null ? kind.empty() : kind.read(value));

/** Declares the variables. Returns the function that converts items of the service to their values. */
export function declareVariables(
  environment: Environment,
  variables: Variables,
): (items: Readonly<Record<string, unknown>>) => Record<string, unknown> {
  mixNumbers(environment);
  const kinds = Object.entries(variables).map(([name, variable]) => {
    const kind = kindOf(environment, name, fieldOfVariable(variable));
    environment.registerVariable(name, kind.type);
    return [name, kind] as const;
  });
  // An item that is null does not exist: its fields are empty. One that is missing shows none of its fields.
  return (items) =>
    Object.fromEntries(kinds.map(([name, kind]) => [name, readAs(kind, items[name]) ?? kind.read({})]));
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
      // All numbers are doubles: JSON does not distinguish 1 from 1.0.
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

/**
 * CEL identifies an object's type by its class, so each object type gets its own class. A field is converted when
 * an expression reads it, so that the code that gives the item can see which fields decided.
 */
function objectKind(environment: Environment, name: string, fields: FieldTree): Kind {
  const kinds = Object.entries(fields).map(
    ([key, field]) => ({ key, kind: kindOf(environment, `${name}.${key}`, field), field }) as const,
  );
  class Item {
    readonly #given: Readonly<Record<string, unknown>> | null;
    constructor(given: Readonly<Record<string, unknown>> | null) {
      this.#given = given;
    }
    static {
      for (const { key, kind, field } of kinds) {
        const get = function (this: Item): unknown {
          if (this.#given === null) return kind.empty();
          const value = this.#given[key];
          const found = readAs(kind, value);
          if (found !== undefined) return found;
          // A field that is optional in the specification is empty when it is absent.
          return field.optional && value === undefined ? kind.empty() : notShown(`${name}.${key}`);
        };
        Object.defineProperty(Item.prototype, key, { get, enumerable: true });
      }
    }
  }
  environment.registerType(name, {
    ctor: Item,
    fields: Object.fromEntries(kinds.map(({ key, kind: { type } }) => [key, type])),
  });
  return {
    type: name,
    read: (value) =>
      typeof value === 'object' && value !== null ? new Item(value as Record<string, unknown>) : undefined,
    empty: () => new Item(null),
  };
}

function notShown(field: string): never {
  throw new NotShownError(field);
}

const textOf = (value: unknown): string | undefined =>
  value === undefined || typeof value === 'object' ? undefined : String(value);

function toTimestamp(value: unknown): Date | undefined {
  const time = new Date(typeof value === 'string' ? value : Number.NaN);
  return Number.isNaN(time.getTime()) ? undefined : time;
}

/** A list with an unreadable item counts as not shown. */
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

/** Allows `site.backups.available_snapshots == 5` without a decimal point. */
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
