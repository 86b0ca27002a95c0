/**
 * Lenient reading of answers. A value of the wrong type with only one possible meaning is converted. Any
 * other wrong value is dropped, with the nearest optional field around it.
 */
import { z } from 'zod';
import { isHolder } from '../schema-issue.ts';
import { bare, idSchema, schemaUnder } from './schema.ts';

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
  const meant = meaningAs(bare(wanted), Reflect.get(holder, key));
  return meant !== undefined && Reflect.set(holder, key, meant);
}

/** Converts a value to the type `wanted`; undefined when its meaning is not certain. */
function meaningAs(wanted: z.core.$ZodType, value: unknown): unknown {
  if (wanted instanceof z.ZodNumber) return numberIn(value);
  if (wanted instanceof z.ZodBoolean) return value === 'true' ? true : value === 'false' ? false : undefined;
  // Only ids: converting other numbers to text would lose information, such as the version 8.10.
  return wanted === idSchema && Number.isSafeInteger(value) ? String(value) : undefined;
}

/** The number in a text, if it is nothing else and reading it loses nothing. */
function numberIn(value: unknown): number | undefined {
  if (typeof value !== 'string' || !/^-?(0|[1-9]\d*)(\.\d+)?$/.test(value)) return undefined;
  const number = Number(value);
  return Math.abs(number) <= Number.MAX_SAFE_INTEGER ? number : undefined;
}
