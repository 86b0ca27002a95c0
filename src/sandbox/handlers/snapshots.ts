/** The snapshots of a site (spec 4.19). */
import type { ListQuery } from '../../contract/list.ts';
import { timestampsOf } from '../list/timestamps.ts';
import type { Snapshot } from '../model/site.ts';
import { notFound } from '../refusal.ts';
import { snapshotDetails, snapshotView } from '../views/snapshot.ts';
import { DAY } from '../world/service-time.ts';
import { snapshotsOf } from '../world/snapshots.ts';
import { siteWithBackups } from './backup-parts.ts';
import { type Handler, lists } from './handler.ts';
import { siteOf } from './lookup.ts';

/** The range of a list without bounds. */
const WINDOW_MS = 7 * DAY;

export const listSiteSnapshots = lists<'listSiteSnapshots', Snapshot>({
  items: ({ world, params, query, now }) => {
    const isInWindow = defaultWindow(query, now);
    return snapshotsOf(siteWithBackups(world, params.site_id)).filter(isInWindow);
  },
  fields: {
    created_at: (snapshot) => snapshot.createdAt,
    status: (snapshot) => snapshot.status,
    scanner_status: (snapshot) => snapshot.scanner,
    note: (snapshot) => snapshot.note,
    files_synced: (snapshot) => snapshot.filesSynced,
    tables_synced: (snapshot) => snapshot.tablesSynced,
  },
  view: (snapshot, { world, params }) => snapshotView(siteOf(world, params.site_id), snapshot),
});

export const showSiteSnapshot: Handler<'showSiteSnapshot'> = ({ world, params }) => {
  const site = siteWithBackups(world, params.site_id);
  const snapshot = snapshotsOf(site).find(({ id }) => id === params.snapshot_id);
  if (!snapshot) throw notFound('snapshot', params.snapshot_id);
  return { snapshot: snapshotDetails(site, snapshot) };
};

/**
 * The last seven days. A bound that is missing in the query keeps its default. So a list with only
 * `created_at:lte` of last month is empty.
 */
function defaultWindow(query: ListQuery, now: number): (snapshot: Snapshot) => boolean {
  const { gte, lte } = query.filters?.['created_at'] ?? {};
  const from = gte === undefined ? now - WINDOW_MS : timestampsOf(String(gte), 'UTC').first;
  const until = lte === undefined ? now : timestampsOf(String(lte), 'UTC').last;
  return ({ createdAt }) => createdAt >= from && createdAt <= until;
}
