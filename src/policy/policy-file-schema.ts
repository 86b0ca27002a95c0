/**
 * The JSON Schema of `config/policies/*.yaml`, made from the schema of one policy.
 *
 * It accepts a placeholder for every value. What a policy requires may be in `defaults` instead: in a file
 * with defaults a policy is partial, and a key is required where the defaults do not have it.
 */
import { z } from 'zod';
import { PolicyEntry, PolicyFileOutline } from './policy-file.ts';

interface JsonSchema {
  type?: string | string[];
  description?: string;
  default?: unknown;
  enum?: unknown[];
  pattern?: string;
  format?: string;
  minLength?: number;
  not?: object;
  anyOf?: JsonSchema[];
  /** Keys of which a map has one. */
  oneOf?: JsonSchema[];
  items?: JsonSchema;
  required?: string[];
  properties?: Record<string, JsonSchema>;
  additionalProperties?: JsonSchema | boolean;
}

/** One policy, complete and without placeholders. */
export const policyEntryJsonSchema = () => jsonSchemaOf(PolicyEntry);

/** A whole file, for editors. */
export function policyFileJsonSchema() {
  const { $schema, ...entry } = policyEntryJsonSchema();
  const { properties = {} } = jsonSchemaOf(PolicyFileOutline);
  const policy = { $ref: '#/$defs/policy' };
  const partial = { $ref: '#/$defs/partialPolicy' };
  return {
    $schema,
    type: 'object',
    properties: {
      vars: properties['vars'],
      defaults: {
        description: properties['defaults']?.description,
        allOf: [partial],
        properties: { name: false, matrix: false },
      },
      policies: {
        type: 'array',
        description: properties['policies']?.description,
        items: { allOf: [partial], required: ['name'] },
      },
    },
    required: ['policies'],
    additionalProperties: false,
    if: { required: ['defaults'] },
    // biome-ignore lint/suspicious/noThenProperty: this is the keyword of JSON Schema.
    then: { allOf: needsOf(entry).map(neededUnlessDefault) },
    else: { properties: { policies: { items: policy } } },
    $defs: {
      policy: withPlaceholders(entry, 'complete'),
      partialPolicy: withPlaceholders(entry, 'partial'),
    },
  };
}

const jsonSchemaOf = (schema: z.ZodType) =>
  z.toJSONSchema(schema, { io: 'input' }) as JsonSchema & { $schema: string };

/** In a partial map nothing is required, and null stands for no default. The items of a list are complete. */
type Form = 'complete' | 'partial';

function withPlaceholders(schema: JsonSchema, form: Form): JsonSchema {
  const { properties, items, anyOf, oneOf, additionalProperties, required, ...rest } = schema;
  const formsOf = (inner: JsonSchema) => orPlaceholder(inner, form);
  return {
    ...rest,
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([key, inner]) => [key, formsOf(inner)])),
    }),
    ...(typeof additionalProperties === 'object'
      ? { additionalProperties: formsOf(additionalProperties) }
      : additionalProperties !== undefined && { additionalProperties }),
    ...(items && { items: orPlaceholder(items, 'complete') }),
    ...(anyOf && { anyOf: anyOf.map((one) => withPlaceholders(one, form)) }),
    ...(required && form === 'complete' && { required }),
    ...(oneOf && form === 'complete' && { oneOf }),
  };
}

/** A value, or what can be there instead of it. Its description stays outside, where editors look for it. */
function orPlaceholder(schema: JsonSchema, form: Form): JsonSchema {
  const { description, default: standard, ...value } = withPlaceholders(schema, form);
  const instead: JsonSchema[] = [
    ...(takesAnyText(schema) ? [] : [placeholderFor(schema)]),
    ...(form === 'partial' && !isAnything(schema) ? [{ type: 'null' }] : []),
  ];
  return {
    ...(description !== undefined && { description }),
    ...(standard !== undefined && { default: standard }),
    ...(instead.length === 0 || schema.not
      ? value
      : { anyOf: [...(onlyAnyOf(value) ?? [value]), ...instead] }),
  };
}

const onlyAnyOf = ({ anyOf, ...rest }: JsonSchema) => (Object.keys(rest).length === 0 ? anyOf : undefined);

const isAnything = (schema: JsonSchema): boolean => Object.keys(schema).length === 0;

function takesAnyText(schema: JsonSchema): boolean {
  const { type, anyOf, enum: values, pattern, format, minLength } = schema;
  if (anyOf) return anyOf.some(takesAnyText);
  if (type === undefined) return values === undefined;
  const isBounded = [values, pattern, format, minLength].some((one) => one !== undefined);
  return [type].flat().includes('string') && !isBounded;
}

/** A text can contain placeholders; any other value is one placeholder. */
const placeholderFor = ({ type }: JsonSchema): JsonSchema => ({
  type: 'string',
  pattern: type === 'string' ? String.raw`\$\{\{.+\}\}` : String.raw`^\$\{\{[^}]+\}\}$`,
});

interface Need {
  /** The map that needs it. */
  path: readonly string[];
  needs: JsonSchema;
  /** What the defaults have when the policies do not need it. */
  given: readonly string[];
}

/** What the maps of a policy need. */
function needsOf(
  { properties = {}, required = [], oneOf }: JsonSchema,
  path: readonly string[] = [],
): Need[] {
  const keys = required.filter((key) => path.length > 0 || key !== 'name');
  return [
    ...keys.map((key) => ({ path, needs: { required: [key] }, given: [...path, key] })),
    ...(oneOf ? [{ path, needs: { oneOf }, given: path }] : []),
    ...Object.entries(properties).flatMap(([key, inner]) => needsOf(inner, [...path, key])),
  ];
}

/** A map that is a placeholder or null needs nothing, so only maps are asked. */
const neededUnlessDefault = ({ path, needs, given }: Need) => ({
  if: { properties: { defaults: within(given, {}, 'present') } },
  else: {
    properties: {
      policies: {
        items: within(path, { anyOf: [{ not: { type: 'object' } }, needs] }, 'optional'),
      },
    },
  },
});

/** A schema for what is at a path of maps. */
const within = ([key, ...inner]: readonly string[], schema: object, maps: 'present' | 'optional'): object =>
  key === undefined
    ? schema
    : {
        ...(maps === 'present' && { required: [key] }),
        properties: { [key]: within(inner, schema, maps) },
      };
