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
  if?: object;
  then?: JsonSchema;
  allOf?: JsonSchema[];
  minProperties?: number;
  anyOf?: JsonSchema[];
  /** Keys of which a map has one. */
  oneOf?: JsonSchema[];
  items?: JsonSchema;
  required?: string[];
  properties?: Record<string, JsonSchema>;
  propertyNames?: JsonSchema & { doNotSuggest?: true };
  additionalProperties?: JsonSchema | boolean;
}

/** The JSON Schema of what is written for a schema, before defaults are filled in. */
export function jsonSchemaOf(schema: z.ZodType): JsonSchema {
  const { $schema: _, ...plain } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  return plain as JsonSchema;
}

/** A key with this schema cannot be there. */
export const nothing: JsonSchema = { not: {} };

/** In a partial map nothing is required, and null stands for no default. The items of a list are complete. */
export type Form = 'complete' | 'partial';

/** The schema with placeholders for the values inside. */
export function withPlaceholders(schema: JsonSchema, form: Form): JsonSchema {
  const { properties, items, anyOf, oneOf, allOf, additionalProperties, propertyNames, ...other } = schema;
  const { required, minProperties, then, ...rest } = other;
  const formsOf = (inner: JsonSchema) => orPlaceholder(inner, form);
  return {
    ...rest,
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([key, inner]) => [key, formsOf(inner)])),
    }),
    ...(typeof additionalProperties === 'object'
      ? { additionalProperties: formsOf(additionalProperties) }
      : additionalProperties !== undefined && { additionalProperties }),
    // Such a key is refused everywhere. Editors would suggest the key "property".
    ...(typeof additionalProperties === 'object' && {
      propertyNames: { ...propertyNames, not: { const: '__proto__' }, doNotSuggest: true },
    }),
    ...(items && { items: orPlaceholder(items, 'complete') }),
    ...(anyOf && { anyOf: anyOf.map((one) => withPlaceholders(one, form)) }),
    ...(allOf && { allOf: allOf.map((one) => withPlaceholders(one, form)) }),
    // biome-ignore lint/suspicious/noThenProperty: this is the keyword of JSON Schema.
    ...(then && { then: withPlaceholders(then, form) }),
    ...(required && form === 'complete' && { required }),
    ...(minProperties !== undefined && form === 'complete' && { minProperties }),
    ...(oneOf && form === 'complete' && { oneOf }),
  };
}

/** A value, or what can be there instead of it. Its description stays outside, where editors look for it. */
function orPlaceholder(schema: JsonSchema, form: Form): JsonSchema {
  if (schema.not) return form === 'partial' ? { type: 'null' } : schema;
  const { description, default: standard, title, examples, ...value } = withPlaceholders(schema, form);
  const instead: JsonSchema[] = [
    ...(takesAnyText(schema) ? [] : [placeholderFor(schema, form)]),
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
  $ref: `#/$defs/${takesText(schema) || form === 'partial' ? 'text-with-placeholder' : 'placeholder'}`,
});

/** The `$defs` of every schema with placeholders. Editors show their names. */
export const placeholderDefinitions: Record<string, JsonSchema> = {
  placeholder: { type: 'string', pattern: `^${placeholder}$` },
  'text-with-placeholder': { type: 'string', pattern: placeholder },
};

// Makes a JSON Schema smaller: a part that occurs in several places is written once, in `$defs`.

type Json = Readonly<Record<string, unknown>>;

/** A shorter part costs less than references to it. */
const MIN_LENGTH = 80;

const keywordsOf = {
  schema: ['items', 'additionalProperties', 'propertyNames', 'contains', 'not', 'if', 'then', 'else'],
  list: ['allOf', 'anyOf', 'oneOf'],
  map: ['properties', '$defs'],
};

/**
 * A schema that means the same. A part that nothing matches becomes `false`: editors then say that the key is not
 * allowed.
 */
export function compacted<Root extends { $defs: object }>(root: Root): Root {
  const counts = new Map<string, number>();
  const count = (part: unknown): void => {
    if (!isMap(part)) return;
    const text = JSON.stringify(part);
    counts.set(text, (counts.get(text) ?? 0) + 1);
    // What is inside a repeated part is written once with it.
    if (counts.get(text) === 1) withParts(part, count);
  };
  const shared = new Map<string, string>();
  const $defs: Record<string, unknown> = {};
  const write = (part: unknown): unknown => {
    if (!isMap(part)) return part;
    if (isNothing(part)) return false;
    const text = JSON.stringify(part);
    const isRepeated = (counts.get(text) ?? 0) > 1 && text.length >= MIN_LENGTH;
    if (!isRepeated || isShown(part)) return withParts(part, write);
    let name = shared.get(text);
    if (name === undefined) {
      name = `part-${shared.size + 1}`;
      shared.set(text, name);
      $defs[name] = withParts(part, write);
    }
    return { $ref: `#/$defs/${name}` };
  };
  withParts(root as unknown as Json, count);
  const written = withParts(root as unknown as Json, write) as unknown as Root;
  return { ...written, $defs: { ...written.$defs, ...$defs } };
}

/** The schema with the result of `part` for each schema in it. */
const withParts = (schema: Json, part: (inner: unknown) => unknown): Json =>
  Object.fromEntries(
    Object.entries(schema).map(([key, inner]) => {
      if (keywordsOf.schema.includes(key)) return [key, part(inner)];
      if (keywordsOf.list.includes(key)) return [key, (inner as unknown[]).map(part)];
      if (!keywordsOf.map.includes(key)) return [key, inner];
      const parts = Object.entries(inner as Json).map(([name, one]) => [name, part(one)]);
      return [key, Object.fromEntries(parts)];
    }),
  );

const isMap = (value: unknown): value is Json => typeof value === 'object' && value !== null;

/** Editors call a type by its title, or else by the name of its reference, which is not known. */
const isShown = ({ type, title }: Json): boolean => type !== undefined && title === undefined;

const isNothing = ({ not, ...rest }: Json): boolean =>
  isMap(not) && Object.keys(not).length === 0 && Object.keys(rest).length === 0;
