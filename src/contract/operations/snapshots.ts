/** The backup snapshots of a site (spec 4.19). A list without `created_at` covers the last seven days. */
import { z } from 'zod';
import { listTimestamp, oneOf, text } from '../list.ts';
import { operation } from '../operation.ts';
import { PageMeta, scannerStatuses, snapshotStatuses } from '../resources/shared.ts';
import { Snapshot, SnapshotDetails } from '../resources/snapshot.ts';
import { part } from '../schema.ts';

export const snapshotOperations = {
  listSiteSnapshots: operation({
    section: '4.19',
    summary: 'Lists the snapshots of a site, by default of the last seven days (created_at).',
    method: 'GET',
    path: '/sites/{site_id}/snapshots',
    success: 200,
    answer: part({ snapshots: z.array(Snapshot), meta: PageMeta }, 'snapshots'),
    errors: [400, 401, 403, 404, 422, 429],
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
    section: '4.19',
    summary: 'Shows a snapshot of a site with scan counts and measurements.',
    method: 'GET',
    path: '/sites/{site_id}/snapshots/{snapshot_id}',
    success: 200,
    answer: part({ snapshot: SnapshotDetails }, 'snapshot'),
    errors: [401, 403, 404, 422, 429],
  }),
} as const;
