/**
 * JSON Schemas of the input of an operation as a policy writes it: `checkInput` finds a fault of form in a value if
 * and only if its schema refuses it, and a name can replace an id.
 */
import { z } from 'zod';
import { formOf, hasNames, type Kind, kinds, type NamedKind } from './kinds.ts';
import { kindOfParameter } from './references.ts';
import { kindOfId } from './schema.ts';

type Json = Record<string, unknown>;

/** A name in place of an id. */
export const nameSchema = (kind: NamedKind) => ({
  type: 'object',
  title: `name of a ${kinds[kind].noun}`,
  properties: { name: { type: 'string', minLength: 1 } },
  required: ['name'],
  additionalProperties: false,
});

/** A path parameter. People write an id that consists of digits without quotes. */
export function parameterSchema(name: string): Json {
  const kind = kindOfParameter(name);
  const form = formOf(kind);
  const plain = form
    ? [
        { type: 'string', pattern: form.pattern.source },
        { type: 'integer', minimum: 0 },
      ]
    : [{ type: 'string', pattern: '[^\\s.]' }, { type: 'number' }];
  return {
    ...(kind && {
      description: `The id of a ${kinds[kind].noun}${hasNames(kind) ? ', or { name: ... }' : ''}.`,
    }),
    anyOf: [...plain, ...namesOf(kind)],
  };
}

export function bodySchema(body: z.ZodType): Json {
  const { $schema: _, ...schema } = z.toJSONSchema(body, {
    io: 'input',
    unrepresentable: 'any',
    override({ zodSchema, jsonSchema }) {
      const message = formatMessages[jsonSchema.format ?? ''];
      if (message) Object.assign(jsonSchema, { patternErrorMessage: message });
      // A schema around the id, such as `z.optional`, has the result of this in it.
      const kind = zodSchema instanceof z.ZodString ? kindOfId(zodSchema) : undefined;
      if (!kind || !hasNames(kind)) return;
      const { minLength } = jsonSchema;
      delete jsonSchema.type;
      delete jsonSchema.minLength;
      Object.assign(jsonSchema, { anyOf: [{ type: 'string', minLength }, ...namesOf(kind)] });
    },
  });
  return schema;
}

const namesOf = (kind: Kind | undefined) => (kind && hasNames(kind) ? [nameSchema(kind)] : []);

/** What editors show in place of the pattern. */
const formatMessages: Readonly<Record<string, string>> = {
  date: 'The value must be a day such as 2026-12-20.',
  'date-time': 'The value must be a time such as 2026-11-21T02:00:00Z.',
};
