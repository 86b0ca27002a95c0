/** Keeping what can be used of an answer: a wrong value goes, with the nearest field around it that may be missing. */
import { z } from 'zod';
import { isHolder } from './deviation.ts';
import { schemaUnder } from './schema.ts';

/**
 * What `schema` can make of a body that it does not accept as it is, or the first deviation that cannot be left out.
 * The body itself is not touched.
 */
export function salvage(schema: z.ZodType, body: unknown): { value: unknown } | { broken: z.core.$ZodIssue } {
  const rest = structuredClone(body);
  for (;;) {
    // Ends: each round takes at least one field out of `rest`, or returns.
    const reading = schema.safeParse(rest);
    if (reading.success) return { value: reading.data };
    const broken = reading.error.issues.find((issue) => !dropAround(schema, rest, issue.path));
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
