/**
 * Removes fields from answers that the specification lists. Fields that our contract needs are always
 * present.
 */
import { z } from 'zod';
import { type OperationId, operationOf } from '../../contract/operations.ts';
import { bare, schemaUnder } from '../../contract/schema.ts';

/** Fields that tests remove from answers. */
export interface HiddenFields {
  /**
   * Removes these fields from all further answers of the operation. Paths start at the item: `sync`,
   * `email.recipients`, `tags.name`. Returns a function that shows them again.
   *
   * @throws {Error} for a field that the operation does not answer, or that the contract needs.
   */
  hide(operation: OperationId, ...fields: string[]): () => void;
  /** Whether any field of the operation's answers is hidden. */
  hides(operation: OperationId): boolean;
  /** Removes the hidden fields from an answer. */
  removeFrom(operation: OperationId, answer: unknown): void;
}

/** Nothing is hidden at first. */
export function createHiddenFields(): HiddenFields {
  const hidden: { operation: OperationId; path: readonly string[] }[] = [];
  return {
    hide(operation, ...fields) {
      const added = fields.map((field) => ({ operation, path: pathOf(operation, field) }));
      hidden.push(...added);
      return () => {
        for (const one of added) hidden.splice(hidden.indexOf(one), 1);
      };
    },
    hides: (operation) => hidden.some((one) => one.operation === operation),
    removeFrom(operation, answer) {
      for (const one of hidden) if (one.operation === operation) remove(answer, one.path);
    },
  };
}

/** The full path of a field, given from the body or from the item in it. */
function pathOf(operation: OperationId, field: string): readonly string[] {
  const { answer } = operationOf(operation);
  const names = field.split('.');
  const keys = answer instanceof z.ZodObject ? Object.keys(answer.shape) : [];
  const paths = [names, ...keys.map((key) => [key, ...names])];
  const found = answer && paths.find((path) => schemaAt(answer, path) !== undefined);
  if (!found) throw new Error(`${operation} does not answer "${field}".`);
  if (!(schemaAt(answer, found) instanceof z.ZodOptional))
    throw new Error(`The contract needs "${field}" in the answer of ${operation}.`);
  return found;
}

/** The schema at a path. Lists count as their items. */
function schemaAt(schema: z.core.$ZodType, path: readonly string[]): z.core.$ZodType | undefined {
  let at: z.core.$ZodType | undefined = schema;
  for (const name of path) {
    while (at && bare(at) instanceof z.ZodArray) at = schemaUnder(at, 0);
    at = at && schemaUnder(at, name);
  }
  return at;
}

function remove(value: unknown, [name = '', ...rest]: readonly string[]): void {
  if (Array.isArray(value)) {
    for (const item of value) remove(item, [name, ...rest]);
  } else if (typeof value === 'object' && value !== null) {
    if (rest.length === 0) Reflect.deleteProperty(value, name);
    else remove(Reflect.get(value, name), rest);
  }
}

/** Removes optional fields of `schema` from `value` when `leaveOut` returns true, at every level. */
export function removeOptional(
  schema: z.core.$ZodType | undefined,
  value: unknown,
  leaveOut: () => boolean,
): unknown {
  if (schema === undefined || typeof value !== 'object' || value === null) return value;
  for (const key of Object.keys(value)) {
    const field = schemaUnder(schema, key);
    if (field instanceof z.ZodOptional && leaveOut()) Reflect.deleteProperty(value, key);
    else removeOptional(field, Reflect.get(value, key), leaveOut);
  }
  return value;
}
