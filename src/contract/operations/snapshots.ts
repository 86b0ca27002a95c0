/** The backup snapshots of a site (spec 4.19). A list without `created_at` covers the last seven days. */
import { z } from 'zod';
import { listTimestamp, oneOf, text } from '../list.ts';
import { operationsOf } from '../operation.ts';
import { idSchema, int, part, requiredWhen, timestamp } from '../schema.ts';
import {
  CountPair,
  Detections,
  PageMeta,
  ScannerStatus,
  ScanProgress,
  SnapshotStatus,
  scannerStatuses,
  snapshotStatuses,
} from './shared.ts';

// Backup snapshots of a site (spec 2.21). Lists have `Snapshot`; the single view adds `SnapshotDetails`.

const shared = {
  id: idSchema,
  created_at: timestamp,
  status: SnapshotStatus,
  note: z.nullable(z.string()),
  error_message: z.nullable(z.string()),
  backups: part({ enabled: z.boolean(), real_time: z.boolean(), files: CountPair, database: CountPair }),
};
// A snapshot that was never scanned has no status.
const scanner = { status: z.nullable(ScannerStatus), detections: Detections };

/** A snapshot in lists. */
export const Snapshot = part(
  {
    ...shared,
    security: part({ enabled: z.boolean(), scanner: part(scanner) }),
    performance: part({ enabled: z.boolean() }),
  },
  'id',
  'status',
);
export type Snapshot = z.output<typeof Snapshot>;

/** The single view of a snapshot; its measurements are null when monitoring was off or has no data. */
export const SnapshotDetails = part(
  {
    ...shared,
    security: part({
      enabled: z.boolean(),
      scanner: part({ ...scanner, files: ScanProgress, database: ScanProgress }),
    }),
    performance: part({
      enabled: z.boolean(),
      score: z.nullable(int),
      load_time: z.nullable(z.number()),
      page_size: z.nullable(int),
      total_requests: z.nullable(int),
    }),
  },
  'id',
  'status',
);
export type SnapshotDetails = z.output<typeof SnapshotDetails>;

/** Whether events after the snapshot are included, and up to what time. */
export const SnapshotOptions = z.strictObject({
  real_time_events: z.optional(
    z
      .strictObject({ enabled: z.boolean(), until: z.optional(timestamp) })
      .refine((events) => !events.enabled || events.until !== undefined, {
        message: 'is required when enabled is true',
        path: ['until'],
        params: { form: true },
      })
      .meta(requiredWhen({ enabled: true }, 'until')),
  ),
});

const operation = operationsOf('4.19');

export const snapshotOperations = {
  listSiteSnapshots: operation({
    summary: 'Lists the snapshots of a site, by default of the last seven days (created_at).',
    method: 'GET',
    path: '/sites/{site_id}/snapshots',
    answer: part({ snapshots: z.array(Snapshot), meta: PageMeta }, 'snapshots'),
    errors: [422],
    list: {
      key: 'snapshots',
      filters: {
        created_at: listTimestamp('gte', 'lte'),
        status: oneOf(snapshotStatuses, 'eq'),
        scanner_status: oneOf(scannerStatuses, 'eq'),
        note: text('present'),
      },
      sorts: ['created_at', 'files_synced', 'tables_synced'],
      defaultSort: 'created_at,desc',
      timezone: false,
      paged: true,
    },
  }),
  showSiteSnapshot: operation({
    summary: 'Shows a snapshot of a site with scan counts and measurements.',
    method: 'GET',
    path: '/sites/{site_id}/snapshots/{snapshot_id}',
    answer: part({ snapshot: SnapshotDetails }, 'snapshot'),
    errors: [422],
  }),
} as const;
