/** Members of the account, and invitations that are not accepted yet (spec 2.14). */
import { z } from 'zod';
import { idSchema, known, part, timestamp } from '../schema.ts';
import { roles } from './shared.ts';

/** `id` changes while an invitation is pending: every update or resend replaces it. */
export const TeamMember = part(
  {
    id: idSchema,
    name: z.string(),
    email: z.string(),
    company_name: z.string(),
    note: z.string(),
    role: known(...roles),
    status: known('connected', 'pending'),
    all_sites_access: z.boolean(),
    site_ids: z.array(idSchema),
    two_fa_enabled: z.boolean(),
    created_at: timestamp,
    updated_at: timestamp,
  },
  'id',
);
export type TeamMember = z.output<typeof TeamMember>;
