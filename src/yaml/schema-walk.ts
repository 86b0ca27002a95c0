/** Finds the parts of a zod schema, and their keys, that apply to a path in a value. */
import { z } from 'zod';
import type { Path } from './yaml-file.ts';

/** All schemas that may apply at `path`. A union has several. */
export function schemasAt(schema: z.core.$ZodType, path: Path): z.core.$ZodType[] {
  return path.reduce<z.core.$ZodType[]>(
    (schemas, part) => schemas.flatMap((one) => childrenOf(one, part)),
    unwrapped(schema),
  );
}

/** The keys an object schema declares. */
export const keysOf = (schema: z.core.$ZodType): string[] =>
  schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];

function childrenOf(schema: z.core.$ZodType, part: PropertyKey): z.core.$ZodType[] {
  if (schema instanceof z.ZodObject) {
    const shape: Record<PropertyKey, z.core.$ZodType | undefined> = schema.shape;
    const child = Object.hasOwn(shape, part) ? shape[part] : undefined;
    return child ? unwrapped(child) : [];
  }
  if (schema instanceof z.ZodArray) return unwrapped(schema.element);
  if (schema instanceof z.ZodRecord) return unwrapped(schema.valueType);
  return [];
}

/** Unwraps optional, default, transform and similar wrappers, and splits unions. */
function unwrapped(schema: z.core.$ZodType): z.core.$ZodType[] {
  if (schema instanceof z.ZodUnion) return schema.options.flatMap(unwrapped);
  if (schema instanceof z.ZodPipe) return unwrapped(schema.in);
  if (
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodNullable ||
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodPrefault ||
    schema instanceof z.ZodReadonly
  ) {
    return unwrapped(schema.unwrap());
  }
  return [schema];
}
