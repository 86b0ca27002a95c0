/** Tells CEL what candidates are made of, and turns what the service sent into values of exactly these kinds. */
import type { Environment } from '@marcbachmann/cel-js';
import type { Field, FieldTree } from '../contract/fields.ts';

const timestamp = 'google.protobuf.Timestamp';

/** A kind of value: its name in CEL, and how any value of the service becomes one. */
interface Kind {
  type: string;
  read(value: unknown): unknown;
}

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
  return (items) => Object.fromEntries(kinds.map(([name, read]) => [name, read(items[name])]));
}

function kindOf(environment: Environment, name: string, field: Field): Kind {
  switch (field.kind) {
    case 'string':
      return {
        type: 'string',
        read: (value) => (value === null || value === undefined ? '' : String(value)),
      };
    case 'boolean':
      return { type: 'bool', read: (value) => value === true };
    case 'number':
      // All numbers are doubles: JSON does not tell 1 from 1.0.
      return { type: 'double', read: (value) => (typeof value === 'number' ? value : 0) };
    case 'timestamp':
    case 'day':
      return { type: timestamp, read: toMoment };
    case 'list': {
      const of = kindOf(environment, name, field.of);
      return { type: `list<${of.type}>`, read: (value) => (Array.isArray(value) ? value.map(of.read) : []) };
    }
    case 'map': {
      const of = kindOf(environment, name, field.of);
      return { type: `map<string, ${of.type}>`, read: (value) => toMap(value, of) };
    }
    case 'object':
      return objectKind(environment, name, field.fields);
    case 'any':
      return { type: 'dyn', read: (value) => value ?? null };
  }
}

/** CEL knows an object by its class, so each kind of object gets one of its own. */
function objectKind(environment: Environment, name: string, fields: FieldTree): Kind {
  const kinds = Object.entries(fields).map(
    ([key, field]) => [key, kindOf(environment, `${name}.${key}`, field)] as const,
  );
  const Item = class {};
  environment.registerType(name, {
    ctor: Item,
    fields: Object.fromEntries(kinds.map(([key, { type }]) => [key, type])),
  });
  const read = (value: unknown) => {
    const given = typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
    return Object.assign(
      new Item(),
      Object.fromEntries(kinds.map(([key, kind]) => [key, kind.read(given[key])])),
    );
  };
  return { type: name, read };
}

function toMoment(value: unknown): Date {
  const moment = new Date(typeof value === 'string' ? value : 0);
  return Number.isNaN(moment.getTime()) ? new Date(0) : moment;
}

function toMap(value: unknown, of: Kind): Map<string, unknown> {
  const entries = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  return new Map(entries.map(([key, inner]) => [key, of.read(inner)]));
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
