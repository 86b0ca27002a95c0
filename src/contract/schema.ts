/**
 * How the service's shapes are written down once and read in two ways.
 *
 * Answers are read leniently: what spec section 2 lists may be missing or wrong as long as nothing of ours needs it,
 * and unknown fields and enum values pass. What we or the sandbox send is held to the letter. `part` therefore
 * takes the whole shape of the spec plus the names of the fields we cannot work without; `published` gives back the
 * strict reading of the same shape.
 */
import { z } from 'zod';

const strictReading = new WeakMap<z.core.$ZodType, () => z.ZodType>();

type Lenient<S extends z.core.$ZodShape, N extends keyof S> = {
  [K in keyof S]: K extends N ? S[K] : S[K] extends z.ZodOptional ? S[K] : z.ZodOptional<S[K]>;
};

/**
 * An object of the service: unknown fields pass, and of the known ones only `needed` must be there and right.
 * A field that the spec itself shows only in some views is written `z.optional(...)`.
 */
export function part<const S extends z.core.$ZodShape, const N extends keyof S & string>(
  shape: S,
  ...needed: N[]
): z.ZodObject<Lenient<S, N>, z.core.$loose> {
  const lenient = Object.fromEntries(
    Object.entries(shape).map(([key, field]) => [
      key,
      needed.includes(key as N) || field instanceof z.ZodOptional ? field : z.optional(field),
    ]),
  );
  const schema = z.looseObject(lenient);
  strictReading.set(schema, () => z.strictObject(mapShape(shape, published)));
  return schema as unknown as z.ZodObject<Lenient<S, N>, z.core.$loose>;
}

/** A value out of a list that the service may lengthen: unknown ones pass when read, and are refused when we send. */
export function known<const V extends string>(...values: [V, ...V[]]): z.ZodType<V | (string & {})> {
  const schema = z.string();
  strictReading.set(schema, () => z.enum(values));
  return schema as z.ZodType<V | (string & {})>;
}

/** An identifier (spec 1.3): strings. */
export const id = z.string().min(1);
/** A text of ours that the service refuses when it is blank. */
export const nonBlank = z.string().regex(/\S/, 'must not be blank');
/** A moment (spec 1.2): ISO 8601 in UTC. */
export const timestamp = z.iso.datetime({ offset: true });
/** A day (spec 1.2): YYYY-MM-DD. */
export const day = z.iso.date();
/** A count or an amount that the service gives as a whole number. */
export const int = z.int();

/**
 * The strict reading of a schema: every field of the spec is required, none besides is allowed, enums are closed.
 * This is what the sandbox's answers are held to and what `/openapi.json` shows.
 */
export function published(schema: z.core.$ZodType): z.ZodType {
  const strict = strictReading.get(schema);
  if (strict) return strict();
  if (schema instanceof z.ZodOptional) return z.optional(published(schema.unwrap()));
  if (schema instanceof z.ZodNullable) return z.nullable(published(schema.unwrap()));
  if (schema instanceof z.ZodArray) return z.array(published(schema.element));
  if (schema instanceof z.ZodRecord) return z.record(z.string(), published(schema.valueType));
  return schema as z.ZodType;
}

function mapShape(shape: z.core.$ZodShape, change: (schema: z.core.$ZodType) => z.ZodType) {
  return Object.fromEntries(Object.entries(shape).map(([key, field]) => [key, change(field)]));
}
