/** External storage to which backups are uploaded (spec 4.4). Ids may also be provider ids. */
import { z } from 'zod';
import { operation } from '../operation.ts';
import { BackupDestination } from '../resources/backup-destination.ts';
import { part } from '../schema.ts';

const backupDestination = part({ backup_destination: BackupDestination }, 'backup_destination');

export const backupDestinationOperations = {
  listBackupDestinations: operation({
    section: '4.4',
    summary: 'Lists every usable provider and its saved destination.',
    method: 'GET',
    path: '/backup-destinations',
    success: 200,
    answer: part({ backup_destinations: z.array(BackupDestination) }, 'backup_destinations'),
    errors: [401, 403, 429],
    list: { key: 'backup_destinations', filters: {}, sorts: [], timezone: false, paged: false },
  }),
  showBackupDestination: operation({
    section: '4.4',
    summary: 'Shows a backup destination.',
    method: 'GET',
    path: '/backup-destinations/{backup_destination_id}',
    success: 200,
    answer: backupDestination,
    errors: [401, 403, 404, 429],
  }),
  testBackupDestination: operation({
    section: '4.4',
    summary: 'Tests a saved backup destination and updates its status.',
    method: 'POST',
    path: '/backup-destinations/{backup_destination_id}/test',
    success: 200,
    answer: backupDestination,
    errors: [401, 403, 404, 422, 429, 503],
    effect: 'repeatable',
  }),
  disconnectBackupDestination: operation({
    section: '4.4',
    summary: 'Disconnects a saved backup destination.',
    destructive: 'Backups are no longer stored there before it is connected again.',
    method: 'POST',
    path: '/backup-destinations/{backup_destination_id}/disconnect',
    success: 200,
    answer: backupDestination,
    errors: [401, 403, 404, 429],
    effect: 'repeatable',
    leadsTo: { connected: false },
  }),
} as const;
