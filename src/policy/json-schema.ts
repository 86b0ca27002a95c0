/** JSON Schemas of the parts of a policy file, in which a placeholder can stand for every value. */
import { z } from 'zod';

export interface JsonSchema {
  $ref?: string;
  type?: string | string[];
  title?: string;
  description?: string;
  default?: unknown;
  examples?: unknown[];
  enum?: unknown[];
  const?: unknown;
  pattern?: string;
  format?: string;
  minLength?: number;
  not?: object;
  allOf?: object[];
  anyOf?: JsonSchema[];
  /** Keys of which a map has one. */
  oneOf?: JsonSchema[];
  items?: JsonSchema;
  required?: string[];
  properties?: Record<string, JsonSchema>;
  propertyNames?: JsonSchema;
  additionalProperties?: JsonSchema | boolean;
}

/** The JSON Schema of what is written for a schema, before defaults are filled in. */
export function jsonSchemaOf(schema: z.ZodType): JsonSchema {
  const { $schema: _, ...plain } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  return plain as JsonSchema;
}

/** In a partial map nothing is required, and null stands for no default. The items of a list are complete. */
export type Form = 'complete' | 'partial';

/** The schema with placeholders for the values inside. */
export function withPlaceholders(schema: JsonSchema, form: Form): JsonSchema {
  const { properties, items, anyOf, oneOf, additionalProperties, propertyNames, required, ...rest } = schema;
  const formsOf = (inner: JsonSchema) => orPlaceholder(inner, form);
  return {
    ...rest,
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([key, inner]) => [key, formsOf(inner)])),
    }),
    ...(typeof additionalProperties === 'object'
      ? { additionalProperties: formsOf(additionalProperties) }
      : additionalProperties !== undefined && { additionalProperties }),
    // Such a key is refused everywhere.
    ...(typeof additionalProperties === 'object' && {
      propertyNames: { ...propertyNames, not: { const: '__proto__' } },
    }),
    ...(items && { items: orPlaceholder(items, 'complete') }),
    ...(anyOf && { anyOf: anyOf.map((one) => withPlaceholders(one, form)) }),
    ...(required && form === 'complete' && { required }),
    ...(oneOf && form === 'complete' && { oneOf }),
  };
}

/** A value, or what can be there instead of it. Its description stays outside, where editors look for it. */
function orPlaceholder(schema: JsonSchema, form: Form): JsonSchema {
  const { description, default: standard, title, examples, ...value } = withPlaceholders(schema, form);
  const instead: JsonSchema[] = [
    ...(takesAnyText(schema) || schema.not ? [] : [placeholderFor(schema, form)]),
    ...(form === 'partial' && !isAnything(schema) ? [{ type: 'null' }] : []),
  ];
  return {
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    ...(standard !== undefined && { default: standard }),
    ...(examples && { examples }),
    ...(instead.length === 0 ? value : { anyOf: [...(onlyAnyOf(value) ?? [value]), ...instead] }),
  };
}

const onlyAnyOf = ({ anyOf, ...rest }: JsonSchema) => (Object.keys(rest).length === 0 ? anyOf : undefined);

const isAnything = (schema: JsonSchema): boolean => Object.keys(schema).length === 0;

function takesAnyText(schema: JsonSchema): boolean {
  const { $ref, type, anyOf, enum: values, const: only, pattern, format, minLength } = schema;
  if ($ref !== undefined) return false;
  if (anyOf) return anyOf.some(takesAnyText);
  const isBounded = [values, only, pattern, format, minLength].some((one) => one !== undefined);
  return (type === undefined || [type].flat().includes('string')) && !isBounded;
}

const takesText = ({ type, anyOf, enum: values = [] }: JsonSchema): boolean =>
  [type].flat().includes('string') ||
  values.some((one) => typeof one === 'string') ||
  (anyOf?.some(takesText) ?? false);

const placeholder = String.raw`\$\{\{\s*(vars|matrix)(\.[A-Za-z0-9_\-]+)+\s*\}\}`;

/** A text can contain placeholders; any other value is one placeholder. What a default becomes depends on its use. */
const placeholderFor = (schema: JsonSchema, form: Form): JsonSchema => ({
  type: 'string',
  pattern: takesText(schema) || form === 'partial' ? placeholder : `^${placeholder}$`,
});
