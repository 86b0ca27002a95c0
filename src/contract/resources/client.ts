/** Clients: the agency's customers, with their sites (spec 2.2). */
import { z } from 'zod';
import { idSchema, part, timestamp } from '../schema.ts';

export const Client = part(
  {
    id: idSchema,
    first_name: z.string(),
    last_name: z.string(),
    email: z.string(),
    company_name: z.string(),
    address: z.string(),
    note: z.string(),
    site_ids: z.array(idSchema),
    created_at: timestamp,
    updated_at: timestamp,
  },
  'id',
);
export type Client = z.output<typeof Client>;
