/** Tags (spec 2.15). */
import { z } from 'zod';
import { idSchema, part, timestamp } from '../schema.ts';

export const Tag = part(
  {
    id: idSchema,
    name: z.string(),
    color: z.nullable(z.string()),
    site_ids: z.array(idSchema),
    created_at: timestamp,
    updated_at: timestamp,
  },
  'id',
  'name',
);
export type Tag = z.output<typeof Tag>;
