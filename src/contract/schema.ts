/**
 * The shapes of the service: declared once, and read in three ways.
 *
 * Answers are read leniently: fields of spec section 2 may be missing or wrong unless our code needs them,
 * and unknown fields and enum values are allowed. `part` takes the whole shape of the spec and the names of
 * the needed fields. `complete` returns the reading in which every field is required, and `published` the one
 * that also allows nothing else.
 */
import { z } from 'zod';
import { isHolder } from '../schema-issue.ts';
import type { Kind } from './kinds.ts';

/** `open` allows unknown fields and enum values, `closed` does not. Both require every field. */
type Strictness = 'open' | 'closed';

/** How the schemas of `part` and `known` are read. */
const readings = new WeakMap<z.core.$ZodType, (reading: Strictness) => z.ZodType>();
/** Cache of readings: zod compiles a schema at its first use, so each is created once. */
const made = {
  open: new WeakMap<z.core.$ZodType, z.ZodType>(),
  closed: new WeakMap<z.core.$ZodType, z.ZodType>(),
};

type Lenient<S extends z.core.$ZodShape, N extends keyof S> = {
  [K in keyof S]: K extends N ? S[K] : S[K] extends z.ZodOptional ? S[K] : z.ZodOptional<S[K]>;
};

/**
 * An object of the service: unknown fields are allowed, and only the `needed` fields must be present and
 * valid. A field that the spec shows only in some views is declared `z.optional(...)`.
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
 * A value of a list that the service may extend: unknown values are allowed in answers, and refused in
 * requests.
 */
export function known<const V extends string>(...values: [V, ...V[]]): z.ZodType<V | (string & {})> {
  const schema = z.string();
  readings.set(schema, (reading) => (reading === 'open' ? schema : z.enum(values)));
  return schema as z.ZodType<V | (string & {})>;
}

/** An identifier (spec 1.3): a string. */
export const idSchema = z.string().min(1);
const kindsOfIds = new WeakMap<z.core.$ZodType, Kind>();
/** The id of a client, a tag, ... in a request. */
export function idOf(kind: Kind): typeof idSchema {
  const schema = z.string().min(1);
  kindsOfIds.set(schema, kind);
  return schema;
}
/** What a schema of `idOf` is the id of. */
export const kindOfId = (schema: z.core.$ZodType): Kind | undefined => kindsOfIds.get(bare(schema));
/** A text in a request that the service refuses when it is blank. */
export const nonBlank = z.string().regex(/\S/, 'must not be blank');
/** A timestamp in a request (spec 1.2): ISO 8601 with its zone. */
export const sentTimestamp = z.iso.datetime({ offset: true });

const timestampFormats =
  /^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d)(:\d\d)?([.,]\d+)? ?(Z|z|UTC|([+-]\d\d):?(\d\d)?)?$/;

/**
 * The same time in the format of `toISOString`; undefined when the text is not a timestamp. Without a zone it is UTC.
 */
function normalized(text: string): string | undefined {
  if (isNormal(text)) return text;
  const [found, date, minutes, seconds = ':00', fraction = '', , hours, rest = '00'] =
    timestampFormats.exec(text) ?? [];
  if (found === undefined) return undefined;
  const iso = `${date}T${minutes}${seconds}${fraction.replace(',', '.')}${hours ? `${hours}:${rest}` : 'Z'}`;
  return sentTimestamp.safeParse(iso).success ? new Date(iso).toISOString() : undefined;
}

/** A time in the format of `toISOString` on a day that every month has: it is valid without a look at the calendar. */
const onDayOfEveryMonth =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/;

/** Whether the text has that format already, as most answers have it: a run reads many thousands of them. */
function isNormal(text: string): boolean {
  if (onDayOfEveryMonth.test(text)) return true;
  if (text.length !== 24 || !text.endsWith('Z')) return false;
  const time = new Date(text);
  return !Number.isNaN(time.getTime()) && time.toISOString() === text;
}

/** Zero of the clocks of computers: this time or an earlier one, such as that of the year 1, stands for none. */
const ZERO = new Date(0).toISOString();

/**
 * A timestamp in an answer (spec 1.2). The service may write the same time in several formats: `Z` or
 * `+00:00`, with or without milliseconds. All are converted to the format of `toISOString`, so that equal
 * texts are equal times, and sorting texts sorts times.
 */
export const timestamp = z.string().check((text) => {
  const time = normalized(text.value);
  if (time !== undefined && time > ZERO) text.value = time;
  else text.issues.push({ code: 'custom', input: text.value, message: 'is not a datetime' });
});
readings.set(timestamp, (reading) => (reading === 'closed' ? sentTimestamp : timestamp));
/** A day (spec 1.2): YYYY-MM-DD. */
export const day = z.iso.date();
/** A count or an amount that is a whole number. */
export const int = z.int();

/**
 * The strict reading of a schema: every field of the spec is required, no other field is allowed, and enums
 * are closed. The sandbox's answers are checked against it, and `/openapi.json` shows it.
 */
export const published = (schema: z.core.$ZodType): z.ZodType => readingOf(schema, 'closed');

/** The reading in which nothing is missing or wrong, but new fields are allowed. */
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

/** For the JSON Schema of an object: a field that is required when another has this value. */
export const requiredWhen = (given: Readonly<Record<string, unknown>>, field: string) => ({
  if: {
    required: Object.keys(given),
    properties: Object.fromEntries(Object.entries(given).map(([key, value]) => [key, { const: value }])),
  },
  // biome-ignore lint/suspicious/noThenProperty: this is the keyword of JSON Schema.
  then: { required: [field] },
});

/** The schema inside `z.optional` and `z.nullable`. */
export function bare(schema: z.core.$ZodType): z.core.$ZodType {
  return schema instanceof z.ZodOptional || schema instanceof z.ZodNullable ? bare(schema.unwrap()) : schema;
}

/** The schema of the value under `key`, if the schema declares it. */
export function schemaUnder(schema: z.core.$ZodType, key: PropertyKey): z.core.$ZodType | undefined {
  const holder = bare(schema);
  if (holder instanceof z.ZodObject)
    return Object.hasOwn(holder.shape, key) ? holder.shape[key as string] : undefined;
  if (holder instanceof z.ZodArray) return holder.element;
  return holder instanceof z.ZodRecord ? holder.valueType : undefined;
}

// Lenient reading of answers. A value of the wrong type with only one possible meaning is converted. Any
// other wrong value is dropped, with the nearest optional field around it.

/**
 * Reads a body that `schema` does not accept, or returns the first deviation that can be neither converted
 * nor dropped. Does not change the body itself.
 */
export function readLeniently(
  schema: z.ZodType,
  body: unknown,
): { value: unknown } | { broken: z.core.$ZodIssue } {
  const rest = structuredClone(body);
  for (;;) {
    // Terminates: each round drops or converts at least one field of `rest`, or returns.
    const reading = schema.safeParse(rest);
    if (reading.success) return { value: reading.data };
    const broken = reading.error.issues.find(
      ({ path }) => !convert(schema, rest, path) && !dropAround(schema, rest, path),
    );
    if (broken) return { broken };
  }
}

/** Drops the innermost optional field at or around `path`; `false` when there is none. */
function dropAround(schema: z.ZodType, value: unknown, path: readonly PropertyKey[]): boolean {
  let at: z.core.$ZodType | undefined = schema;
  let holder = value;
  let innermost: { holder: object; key: PropertyKey } | undefined;
  for (const key of path) {
    // Already dropped because of another deviation.
    if (!isHolder(holder)) return true;
    at = at && schemaUnder(at, key);
    if (at instanceof z.ZodOptional) innermost = { holder, key };
    holder = Reflect.get(holder, key);
  }
  return innermost !== undefined && Reflect.deleteProperty(innermost.holder, innermost.key);
}

/**
 * Converts the value at `path` to the type of the schema, if it has only one possible meaning; `false` if
 * not.
 */
function convert(schema: z.ZodType, value: unknown, path: readonly PropertyKey[]): boolean {
  const key = path.at(-1);
  let at: z.core.$ZodType | undefined = schema;
  let holder = value;
  for (const step of path.slice(0, -1)) {
    at = at && schemaUnder(at, step);
    holder = isHolder(holder) ? Reflect.get(holder, step) : undefined;
  }
  const wanted = at && key !== undefined && schemaUnder(at, key);
  if (!wanted || !isHolder(holder)) return false;
  const meant = meaningAs(wanted, Reflect.get(holder, key));
  return meant !== undefined && Reflect.set(holder, key, meant);
}

/** Converts a value to the type of `field`; undefined when its meaning is not certain. */
function meaningAs(field: z.core.$ZodType, value: unknown): unknown {
  const wanted = bare(field);
  if (wanted === timestamp) return isNoTime(value) && z.safeParse(field, null).success ? null : undefined;
  if (wanted instanceof z.ZodNumber) return numberIn(value);
  if (wanted instanceof z.ZodBoolean) return value === 'true' ? true : value === 'false' ? false : undefined;
  // Only ids: converting other numbers to text would lose information, such as the version 8.10.
  return wanted === idSchema && Number.isSafeInteger(value) ? String(value) : undefined;
}

const isNoTime = (value: unknown): boolean => {
  const time = typeof value === 'string' ? normalized(value) : undefined;
  return time !== undefined && time <= ZERO;
};

/** The number in a text, if it is nothing else and reading it loses nothing. */
function numberIn(value: unknown): number | undefined {
  if (typeof value !== 'string' || !/^-?(0|[1-9]\d*)(\.\d+)?$/.test(value)) return undefined;
  const number = Number(value);
  return Math.abs(number) <= Number.MAX_SAFE_INTEGER ? number : undefined;
}
