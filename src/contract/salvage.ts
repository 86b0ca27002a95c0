/**
 * Keeping what can be used of an answer. A value of the wrong type that can mean only one thing is read as
 * that; any other wrong value goes, with the nearest field around it that may be missing.
 */
import { z } from 'zod';
import { isHolder } from '../schema-issue.ts';
import { bare, id, schemaUnder } from './schema.ts';

/**
 * What `schema` can make of a body that it does not accept as it is, or the first deviation that can be
 * neither read nor left out. The body itself is not touched.
 */
export function salvage(schema: z.ZodType, body: unknown): { value: unknown } | { broken: z.core.$ZodIssue } {
  const rest = structuredClone(body);
  for (;;) {
    // Ends: each round takes at least one field out of `rest`, or gives it its own type, or returns.
    const reading = schema.safeParse(rest);
    if (reading.success) return { value: reading.data };
    const broken = reading.error.issues.find(
      ({ path }) => !convert(schema, rest, path) && !dropAround(schema, rest, path),
    );
    if (broken) return { broken };
  }
}

/** Takes out the innermost field at or around `path` that may be missing; `false` when there is none. */
function dropAround(schema: z.ZodType, value: unknown, path: readonly PropertyKey[]): boolean {
  let at: z.core.$ZodType | undefined = schema;
  let holder = value;
  let innermost: { holder: object; key: PropertyKey } | undefined;
  for (const key of path) {
    // Already taken out, on account of another deviation.
    if (!isHolder(holder)) return true;
    at = at && schemaUnder(at, key);
    if (at instanceof z.ZodOptional) innermost = { holder, key };
    holder = Reflect.get(holder, key);
  }
  return innermost !== undefined && Reflect.deleteProperty(innermost.holder, innermost.key);
}

/**
 * Gives the value at `path` the type that the schema wants, where it can mean only one thing; `false` where
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

/** The value of type `wanted` that a value of another type stands for; nothing where that is not certain. */
function meaningAs(wanted: z.core.$ZodType, value: unknown): unknown {
  if (wanted instanceof z.ZodNumber) return numberIn(value);
  if (wanted instanceof z.ZodBoolean) return value === 'true' ? true : value === 'false' ? false : undefined;
  // Identifiers alone: of other texts a number has lost something, such as the version 8.10.
  return wanted === id && Number.isSafeInteger(value) ? String(value) : undefined;
}

/** The number that a text is, when it is nothing else and loses nothing by being read. */
function numberIn(value: unknown): number | undefined {
  if (typeof value !== 'string' || !/^-?(0|[1-9]\d*)(\.\d+)?$/.test(value)) return undefined;
  const number = Number(value);
  return Math.abs(number) <= Number.MAX_SAFE_INTEGER ? number : undefined;
}
