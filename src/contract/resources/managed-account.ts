/** Other accounts that the caller may work in, and invitations to them (spec 2.3). */
import { z } from 'zod';
import { idSchema, known, part, timestamp } from '../schema.ts';
import { roles } from './shared.ts';

export const ManagedAccount = part(
  {
    id: idSchema,
    email: z.string(),
    role: known(...roles),
    company_name: z.string(),
    status: known('pending', 'connected', 'rejected'),
    all_sites_access: z.boolean(),
    created_at: timestamp,
    updated_at: timestamp,
  },
  'id',
);
export type ManagedAccount = z.output<typeof ManagedAccount>;
