/**
 * The JSON Schema of a call: what follows from `operation` for the other options. It is the form of what `check`
 * accepts. Whether a parameter may be omitted depends on the list of the policy, so none is required.
 */

import { bodySchema, parameterSchema } from '../../src/contract/input-schema.ts';
import { type Operation, pathParameters } from '../../src/contract/operation.ts';
import {
  isDestructive,
  isOperationId,
  type OperationId,
  operations,
  whyDestructive,
} from '../../src/contract/operations.ts';
import type { OptionFault } from '../../src/job/job.ts';
import { canBeUndone } from './undo.ts';

interface Json {
  [keyword: string]: unknown;
  properties?: Record<string, Json>;
  items?: Json;
  additionalProperties?: Json | boolean;
  anyOf?: Json[];
}

/** An option with this schema does not apply. */
const nothing: Json = { not: {} };

/** The operations that can be called. */
export const changes = Object.entries<Operation>(operations).filter(
  ([, { effect }]) => effect !== undefined,
) as [OperationId, Operation][];

let made: object[] | undefined;

/**
 * For the schema of the options: for each operation, what the other options are. Made when it is first asked for, and
 * only then: it takes a tenth of a second, and each JSON Schema with these options asks several times.
 */
export function callSchemas(): readonly object[] {
  made ??= changes.map(([id, operation]) => ({
    if: { required: ['operation'], properties: { operation: { const: id } } },
    // biome-ignore lint/suspicious/noThenProperty: this is the keyword of JSON Schema.
    then: optionsFor(id, operation),
  }));
  return made;
}

function optionsFor(id: OperationId, { path, body, bodyRequired }: Operation): object {
  const parameters = pathParameters(path).map((name) => [name, fromTargetToo(parameterSchema(name))]);
  const required = [...(bodyRequired ? ['body'] : []), ...(isDestructive(id) ? ['confirm'] : [])];
  return {
    properties: {
      params: { type: 'object', properties: Object.fromEntries(parameters), additionalProperties: false },
      body: body ? fromTargetToo(bodySchema(body)) : nothing,
      confirm: { const: id },
      ...(!isDestructive(id) && { grace: nothing }),
      ...(!canBeUndone(id) && { undoable: nothing, undo_of: nothing }),
    },
    ...(required.length > 0 && { required }),
  };
}

/** A value, or `{ cel: ... }` in its place. Editors do not suggest it in place of a map. */
function fromTargetToo(schema: Json): Json {
  const { description, properties, items, additionalProperties, anyOf, ...rest } = schema;
  if (Object.keys(schema).length === 0) return schema;
  const within: Json = {
    ...rest,
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, inner]) => [name, fromTargetToo(inner)]),
      ),
    }),
    ...(items && { items: fromTargetToo(items) }),
    ...(additionalProperties !== undefined && {
      additionalProperties:
        typeof additionalProperties === 'object' ? fromTargetToo(additionalProperties) : additionalProperties,
    }),
  };
  const forms = anyOf ? anyOf.map(withoutOwn) : [within];
  return { ...(description !== undefined && { description }), anyOf: [...forms, fromTarget(schema)] };
}

/** One of several forms of a value: only the values inside may be `{ cel: ... }`. */
function withoutOwn(schema: Json): Json {
  const { anyOf: [form = schema] = [] } = fromTargetToo(schema);
  return form;
}

const fromTarget = ({ properties }: Json): Json => ({
  type: 'object',
  title: 'value from the target',
  description: 'A CEL expression.',
  properties: { cel: { type: 'string', ...(properties && { doNotSuggest: true }) } },
  required: ['cel'],
  additionalProperties: false,
});

// `confirm`: the name of a destructive operation again.

/** Everything that is wrong with `confirm` for an operation. */
export function confirmFaults(operation: string, confirm: string | undefined): OptionFault[] {
  if (!isOperationId(operation) || confirm === operation) return [];
  if (confirm !== undefined) {
    const message = `"confirm" is "${confirm}", but the operation is ${operation}.`;
    return [{ path: ['confirm'], message, form: true }];
  }
  const lost = whyDestructive(operation);
  if (lost === undefined) return [];
  const message = `${operation} is destructive: ${lost}`;
  const suggestion = `if this is intended, add confirm: ${operation}`;
  return [{ path: ['operation'], message, suggestion, missing: ['confirm'], form: true }];
}
