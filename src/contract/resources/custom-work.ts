/** Custom work on a site, as client reports show it (spec 2.18). */
import { z } from 'zod';
import { day, idSchema, part, timestamp } from '../schema.ts';

export const CustomWork = part(
  {
    id: idSchema,
    title: z.string(),
    description: z.string(),
    performed_on: day,
    created_at: timestamp,
    updated_at: timestamp,
  },
  'id',
);
export type CustomWork = z.output<typeof CustomWork>;
