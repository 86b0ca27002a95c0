/** Starts the download, upload or migration of a complete snapshot (spec 4.20). */
import { z } from 'zod';
import { operationsOf } from '../operation.ts';
import { idSchema, requiredWhen } from '../schema.ts';
import { providers } from './backup-destinations.ts';
import { TaskReference } from './shared.ts';
import { SnapshotOptions } from './snapshots.ts';

const Scope = z
  .strictObject({
    include_files: z.optional(z.boolean()),
    include_database: z.optional(z.boolean()),
    paths: z.optional(z.array(z.string())),
    tables: z.optional(z.array(z.string())),
  })
  .refine((scope) => scope.paths === undefined || scope.include_files === true, {
    message: 'is sent only when include_files is true',
    path: ['paths'],
  })
  .refine((scope) => scope.tables === undefined || scope.include_database === true, {
    message: 'is sent only when include_database is true',
    path: ['tables'],
  });
const common = { scope: Scope, options: z.optional(SnapshotOptions) };

const Destination = z
  .strictObject({ provider: z.enum(providers), id: z.optional(idSchema) })
  .refine((destination) => destination.provider !== 'provider_one' || destination.id === undefined, {
    message: 'is not taken by provider_one',
    path: ['id'],
  })
  .refine((destination) => destination.provider !== 'provider_two' || destination.id !== undefined, {
    message: 'is needed by provider_two: the id of its saved destination',
    path: ['id'],
    params: { form: true },
  })
  .meta(requiredWhen({ provider: 'provider_two' }, 'id'));

// The fields for the destination site and for credentials are not specified, so any other field is accepted.
const Migration = z
  .looseObject({
    type: z.enum(['internal', 'external']),
    connection: z.optional(z.looseObject({ method: z.optional(z.string()) })),
    ...common,
  })
  .refine((migration) => migration.type !== 'external' || migration.connection?.method === 'ftp', {
    message: 'must have the method ftp and all credentials when the migration is external',
    path: ['connection'],
  });

const operation = operationsOf('4.20');

export const backupOperations = {
  startSiteBackupDownload: operation({
    summary: 'Starts preparing a download of a snapshot.',
    method: 'POST',
    path: '/sites/{site_id}/backups/{snapshot_id}/download',
    body: z.strictObject({ download: z.strictObject(common) }),
    bodyRequired: true,
    success: 201,
    answer: TaskReference,
    errors: [409, 422],
    effect: 'once',
  }),
  startSiteBackupUpload: operation({
    summary: 'Starts uploading a snapshot to a backup destination.',
    method: 'POST',
    path: '/sites/{site_id}/backups/{snapshot_id}/upload',
    body: z.strictObject({ upload: z.strictObject({ destination: Destination, ...common }) }),
    bodyRequired: true,
    success: 201,
    answer: TaskReference,
    errors: [409, 422],
    effect: 'once',
  }),
  startSiteBackupMigration: operation({
    summary: 'Starts migrating a snapshot to another site, of this account or elsewhere.',
    destructive: 'A restore: it overwrites the destination site.',
    method: 'POST',
    path: '/sites/{site_id}/backups/{snapshot_id}/migrate',
    body: z.strictObject({ migration: Migration }),
    bodyRequired: true,
    success: 201,
    answer: TaskReference,
    errors: [409, 422],
    effect: 'once',
  }),
} as const;
