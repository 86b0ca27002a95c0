/** External storage to which backups are uploaded (spec 2.4). */
import { z } from 'zod';
import { idSchema, known, part, timestamp } from '../schema.ts';

/** provider_one needs no saved destination for an upload, provider_two does. */
export const providers = ['provider_one', 'provider_two'] as const;

/**
 * A provider, and its saved destination. Lists include providers without one. Their `id` and times are not
 * specified, so these may be null.
 */
export const BackupDestination = part(
  {
    id: z.nullable(idSchema),
    provider: known(...providers),
    provider_label: z.string(),
    name: z.nullable(z.string()),
    status: known('active', 'inactive'),
    connected: z.boolean(),
    email: z.nullable(z.string()),
    provider_account_id: z.nullable(z.string()),
    provider_metadata: part({ folder_id: z.optional(z.string()), folder_name: z.optional(z.string()) }),
    config: part({ folder_policy: z.optional(z.string()), folder_name: z.optional(z.string()) }),
    last_tested_at: z.nullable(timestamp),
    last_error_code: z.nullable(z.string()),
    last_error_message: z.nullable(z.string()),
    created_at: z.nullable(timestamp),
    updated_at: z.nullable(timestamp),
  },
  'provider',
);
export type BackupDestination = z.output<typeof BackupDestination>;
