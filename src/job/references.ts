/**
 * Options that refer to something in the account: `template: { name: Monthly care }`, or its id. Names are
 * looked up when a run is planned, and the job is given ids only.
 */
import { z } from 'zod';
import { formOf, kinds, type NamedKind, nameAsWritten, wrongId } from '../contract/kinds.ts';
import { type IdReference, type NamedReference, nameIn } from '../contract/references.ts';
import type { AnyJob } from './job.ts';

const registry = z.registry<{ kind: NamedKind }>();

/**
 * An option that is the id of a tag, a client, ... or its name: `{ name: Premium }`. The functions of a job that
 * plan and act see the id; `check` may see the name.
 */
export function reference(kind: NamedKind): z.ZodType<string, string | { name: string }> {
  const { noun } = kinds[kind];
  const form = formOf(kind)?.pattern;
  const id = form
    ? z.string().regex(form, {
        error: ({ input }) => `${wrongId(kind, input)?.message}, or ${nameAsWritten(String(input))}`,
      })
    : z.string().regex(/\S/);
  const schema = z.union([id, z.strictObject({ name: z.string().regex(/\S/) })], {
    error: `must be the id of a ${noun}, or { name: ... }`,
  });
  registry.add(schema, { kind });
  return schema as unknown as z.ZodType<string, string | { name: string }>;
}

/** Every name in the options of a job, in place of an id. */
export const namesInOptions = (
  job: Pick<AnyJob, 'options' | 'names'>,
  options: unknown,
): NamedReference[] => [
  ...collect(job.options, options, []).flatMap(({ value, ...one }) => {
    const name = nameIn(value);
    return name === undefined ? [] : [{ ...one, name }];
  }),
  ...(job.names?.(options as never) ?? []),
];

/** Every id in the options of a job that has to be there. */
export const idsInOptions = (job: Pick<AnyJob, 'options' | 'ids'>, options: unknown): IdReference[] => [
  ...collect(job.options, options, []).flatMap(({ value, ...one }) =>
    typeof value === 'string' ? [{ ...one, id: value }] : [],
  ),
  ...(job.ids?.(options as never) ?? []),
];

interface Held {
  path: (string | number)[];
  kind: NamedKind;
  value: unknown;
}

/** The options that refer to something. */
function collect(schema: z.core.$ZodType, value: unknown, path: (string | number)[]): Held[] {
  const kind = registry.get(schema)?.kind;
  if (kind !== undefined) return value === undefined ? [] : [{ path, kind, value }];
  if (schema instanceof z.ZodArray && Array.isArray(value))
    return value.flatMap((one, index) => collect(schema.element, one, [...path, index]));
  if (schema instanceof z.ZodObject && typeof value === 'object' && value !== null) {
    const shape = schema.shape as Record<string, z.core.$ZodType>;
    return Object.entries(value).flatMap(([key, inner]) => {
      const under = Object.hasOwn(shape, key) ? shape[key] : undefined;
      return under ? collect(under, inner, [...path, key]) : [];
    });
  }
  const isWrapped =
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodNullable ||
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodPrefault;
  return isWrapped ? collect(schema.def.innerType, value, path) : [];
}
