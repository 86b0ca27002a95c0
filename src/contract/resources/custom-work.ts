/** Custom work on a site, as client reports show it (spec 2.18). */
import { z } from 'zod';
import { day, id, part, timestamp } from '../schema.ts';

export const CustomWork = part(
  {
    id,
    title: z.string(),
    description: z.string(),
    performed_on: day,
    created_at: timestamp,
    updated_at: timestamp,
  },
  'id',
);
export type CustomWork = z.output<typeof CustomWork>;
