import { z } from 'zod';
import { published } from '../../src/contract/schema.ts';

/** A value that has every field the spec gives to `schema`, for tests that then change one of them. */
export function sampleOf(schema: z.core.$ZodType): unknown {
  const whole = published(schema);
  if (whole instanceof z.ZodOptional || whole instanceof z.ZodNullable) return sampleOf(whole.unwrap());
  if (whole instanceof z.ZodArray) return [sampleOf(whole.element), sampleOf(whole.element)];
  if (whole instanceof z.ZodRecord) return { cover: sampleOf(whole.valueType) };
  if (whole instanceof z.ZodObject) {
    return Object.fromEntries(Object.entries(whole.shape).map(([name, field]) => [name, sampleOf(field)]));
  }
  return sampleOfScalar(whole);
}

function sampleOfScalar(schema: z.ZodType): unknown {
  if (schema instanceof z.ZodEnum) return schema.options[0];
  if (schema instanceof z.ZodISODateTime) return '2026-11-21T02:00:00.000Z';
  if (schema instanceof z.ZodISODate) return '2026-11-21';
  if (schema instanceof z.ZodBoolean) return true;
  return schema instanceof z.ZodNumber ? 7 : 'some text';
}
