/** A job's options in the words of a policy's file: what the job's schema read them into, back again. */
import { z } from 'zod';
import { formatDuration } from '../yaml/duration.ts';

/** What `schema` would read as this very value: durations (`14d`) and shares (`20%`) as people write them. */
export function optionsAsWritten(schema: z.core.$ZodType, value: unknown): unknown {
  if (typeof value === 'number') {
    const { title } = z.globalRegistry.get(schema) ?? {};
    if (title === 'duration') return value === 0 ? 0 : formatDuration(value);
    if (title === 'percentage') return `${value}%`;
  }
  if (schema instanceof z.ZodObject && typeof value === 'object' && value !== null) {
    const shape = schema.shape as Record<string, z.core.$ZodType>;
    return Object.fromEntries(
      Object.entries(value).map(([name, one]) => [
        name,
        Object.hasOwn(shape, name) && shape[name] ? optionsAsWritten(shape[name], one) : one,
      ]),
    );
  }
  const isWrapped =
    schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault;
  return isWrapped ? optionsAsWritten(schema.def.innerType, value) : value;
}
