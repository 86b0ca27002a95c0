/**
 * How the service's shapes are written down once and read in three ways.
 *
 * Answers are read leniently: what spec section 2 lists may be missing or wrong as long as nothing of ours
 * needs it, and unknown fields and enum values pass. `part` therefore takes the whole shape of the spec plus
 * the names of the fields we cannot work without. `complete` gives back the reading of the same shape in
 * which every field is there, and `published` the one in which there is nothing else besides.
 */
import { z } from 'zod';

/** `open`: unknown fields and enum values pass. `closed`: they do not. In both, every field must be there. */
type Strictness = 'open' | 'closed';

/** How the schemas that `part` and `known` made are read. */
const readings = new WeakMap<z.core.$ZodType, (reading: Strictness) => z.ZodType>();
/** Readings already made: zod compiles a schema when it first reads with it, so each is made once. */
const made = {
  open: new WeakMap<z.core.$ZodType, z.ZodType>(),
  closed: new WeakMap<z.core.$ZodType, z.ZodType>(),
};

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
  readings.set(schema, (reading) => {
    const fields = Object.fromEntries(
      Object.entries(shape).map(([key, field]) => [key, readingOf(field, reading)]),
    );
    return reading === 'open' ? z.looseObject(fields) : z.strictObject(fields);
  });
  return schema as unknown as z.ZodObject<Lenient<S, N>, z.core.$loose>;
}

/**
 * A value out of a list that the service may lengthen: unknown ones pass when read, and are refused when we
 * send.
 */
export function known<const V extends string>(...values: [V, ...V[]]): z.ZodType<V | (string & {})> {
  const schema = z.string();
  readings.set(schema, (reading) => (reading === 'open' ? schema : z.enum(values)));
  return schema as z.ZodType<V | (string & {})>;
}

/** An identifier (spec 1.3): strings. */
export const id = z.string().min(1);
/** A text of ours that the service refuses when it is blank. */
export const nonBlank = z.string().regex(/\S/, 'must not be blank');
/** A timestamp that we send (spec 1.2): ISO 8601 with its zone. */
export const sentTimestamp = z.iso.datetime({ offset: true });

const spellings = /^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d)(:\d\d)?([.,]\d+)? ?(Z|z|UTC|([+-]\d\d):?(\d\d)?)?$/;

/**
 * The same instant as `toISOString` writes it; the text itself when it is no timestamp. Without a zone it is
 * UTC.
 */
function inOneSpelling(text: string): string {
  const [found, date, minutes, seconds = ':00', fraction = '', , hours, rest = '00'] =
    spellings.exec(text) ?? [];
  if (found === undefined) return text;
  const iso = `${date}T${minutes}${seconds}${fraction.replace(',', '.')}${hours ? `${hours}:${rest}` : 'Z'}`;
  return sentTimestamp.safeParse(iso).success ? new Date(iso).toISOString() : text;
}

/**
 * A timestamp of an answer (spec 1.2). The service may spell one instant in several ways: `Z` or `+00:00`,
 * with or without milliseconds. Every spelling is read as the one that `toISOString` has, so that equal texts
 * are equal instants and texts sort by time.
 */
export const timestamp = z
  .string()
  .overwrite(inOneSpelling)
  .refine((text) => sentTimestamp.safeParse(text).success, 'is no datetime');
readings.set(timestamp, (reading) => (reading === 'closed' ? sentTimestamp : timestamp));
/** A day (spec 1.2): YYYY-MM-DD. */
export const day = z.iso.date();
/** A count or an amount that the service gives as a whole number. */
export const int = z.int();

/**
 * The strict reading of a schema: every field of the spec is required, none besides is allowed, enums are
 * closed. This is what the sandbox's answers are held to and what `/openapi.json` shows.
 */
export const published = (schema: z.core.$ZodType): z.ZodType => readingOf(schema, 'closed');

/** The reading that finds nothing missing and nothing wrong, though perhaps something new. */
export const complete = (schema: z.core.$ZodType): z.ZodType => readingOf(schema, 'open');

function readingOf(schema: z.core.$ZodType, reading: Strictness): z.ZodType {
  const before = made[reading].get(schema);
  if (before) return before;
  const now = readings.get(schema)?.(reading) ?? readInside(schema, reading);
  made[reading].set(schema, now);
  return now;
}

function readInside(schema: z.core.$ZodType, reading: Strictness): z.ZodType {
  if (schema instanceof z.ZodOptional) return z.optional(readingOf(schema.unwrap(), reading));
  if (schema instanceof z.ZodNullable) return z.nullable(readingOf(schema.unwrap(), reading));
  if (schema instanceof z.ZodArray) return z.array(readingOf(schema.element, reading));
  if (schema instanceof z.ZodRecord) return z.record(z.string(), readingOf(schema.valueType, reading));
  return schema as z.ZodType;
}

/** What is inside `z.optional` and `z.nullable`. */
export function bare(schema: z.core.$ZodType): z.core.$ZodType {
  return schema instanceof z.ZodOptional || schema instanceof z.ZodNullable ? bare(schema.unwrap()) : schema;
}

/** The schema of what lies under `key` in a value of `schema`, if the schema says anything about it. */
export function schemaUnder(schema: z.core.$ZodType, key: PropertyKey): z.core.$ZodType | undefined {
  const holder = bare(schema);
  if (holder instanceof z.ZodObject)
    return Object.hasOwn(holder.shape, key) ? holder.shape[key as string] : undefined;
  if (holder instanceof z.ZodArray) return holder.element;
  return holder instanceof z.ZodRecord ? holder.valueType : undefined;
}
