/**
 * Fields that an answer does not show, though the specification lists them. What our contract needs is always
 * there.
 */
import { z } from 'zod';
import { type OperationId, operationOf } from '../../contract/operations.ts';
import { bare, schemaUnder } from '../../contract/schema.ts';

/** Fields that tests have answers leave out. */
export interface HiddenFields {
  /**
   * From now on answers of the operation leave these fields out, written from the item on: `sync`,
   * `email.recipients`, `tags.name`. Gives back a function that shows them again.
   *
   * @throws {Error} for a field that the operation does not answer, or that the contract needs.
   */
  hide(operation: OperationId, ...fields: string[]): () => void;
  /** Whether anything of the operation's answers is hidden. */
  hides(operation: OperationId): boolean;
  /** Takes the hidden fields out of an answer. */
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

/** The whole path of a field, whether it is written from the body on or from the item in it. */
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

/** The schema at a path; the items of lists are passed through. */
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

/** `value` without what `schema` does not need and `leaveOut` picks, in this object and in all within it. */
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
