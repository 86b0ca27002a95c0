/** External storage to which backups are uploaded (spec 4.4). Ids may also be provider ids. */
import { z } from 'zod';
import { operationsOf } from '../operation.ts';
import { idSchema, known, part, timestamp } from '../schema.ts';

// External storage to which backups are uploaded (spec 2.4).

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

const backupDestination = part({ backup_destination: BackupDestination }, 'backup_destination');

const operation = operationsOf('4.4');

export const backupDestinationOperations = {
  listBackupDestinations: operation({
    summary: 'Lists every usable provider and its saved destination.',
    method: 'GET',
    path: '/backup-destinations',
    answer: part({ backup_destinations: z.array(BackupDestination) }, 'backup_destinations'),
    list: { key: 'backup_destinations', filters: {}, sorts: [], timezone: false, paged: false },
  }),
  showBackupDestination: operation({
    summary: 'Shows a backup destination.',
    method: 'GET',
    path: '/backup-destinations/{backup_destination_id}',
    answer: backupDestination,
  }),
  testBackupDestination: operation({
    summary: 'Tests a saved backup destination and updates its status.',
    method: 'POST',
    path: '/backup-destinations/{backup_destination_id}/test',
    answer: backupDestination,
    errors: [422, 503],
    effect: 'repeatable',
  }),
  disconnectBackupDestination: operation({
    summary: 'Disconnects a saved backup destination.',
    destructive: 'Backups are no longer stored there before it is connected again.',
    method: 'POST',
    path: '/backup-destinations/{backup_destination_id}/disconnect',
    answer: backupDestination,
    effect: 'repeatable',
    leadsTo: { connected: false },
  }),
} as const;
