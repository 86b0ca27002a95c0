/** The snapshots of a site (spec 4.19). */
import type { ListQuery } from '../../contract/list.ts';
import type { Snapshot as ShownSnapshot, SnapshotDetails } from '../../contract/operations/snapshots.ts';
import { timestampsOf } from '../list.ts';
import type { Extent, Site, Snapshot } from '../model/site.ts';
import { notFound } from '../refusal.ts';
import { snapshotsOf } from '../world/snapshots.ts';
import { DAY } from '../world/time.ts';
import { siteWithBackups } from './backups.ts';
import { type Handler, lists, shown, siteOf } from './handler.ts';
import { countPair, detections } from './sites.ts';

// The views of a snapshot (spec 2.21).

/** A snapshot in lists. */
export const snapshotView = (site: Site, snapshot: Snapshot): ShownSnapshot => ({
  ...common(site, snapshot),
  security: { enabled: site.scanner.enabled, scanner: scanner(snapshot) },
  performance: { enabled: site.performance.enabled },
});

/**
 * The single view of a snapshot. Measurements are missing when monitoring is off or the sync did not succeed.
 */
export function snapshotDetails(site: Site, snapshot: Snapshot): SnapshotDetails {
  const measured = site.performance.enabled && snapshot.status === 'succeeded';
  return {
    ...common(site, snapshot),
    security: {
      enabled: site.scanner.enabled,
      scanner: {
        ...scanner(snapshot),
        files: scanned(snapshot, snapshot.filesSynced),
        database: scanned(snapshot, snapshot.tablesSynced),
      },
    },
    performance: {
      enabled: site.performance.enabled,
      score: measured ? site.performance.score : null,
      load_time: measured ? 0.8 + (100 - site.performance.score) / 20 : null,
      page_size: measured ? 900_000 + (site.files.items % 100) * 15_000 : null,
      total_requests: measured ? 20 + (site.files.items % 60) : null,
    },
  };
}

const common = (site: Site, snapshot: Snapshot) => ({
  id: snapshot.id,
  created_at: shown(snapshot.createdAt),
  status: snapshot.status,
  note: snapshot.note,
  error_message: snapshot.error,
  backups: {
    enabled: site.backups.enabled,
    real_time: site.backups.realTime,
    files: countPair(kept(site.files, snapshot)),
    database: countPair(kept(site.database, snapshot)),
  },
});

/** A snapshot that has not succeeded contains nothing. */
const kept = (extent: Extent, { status }: Snapshot): Extent =>
  status === 'succeeded' ? extent : { items: 0, bytes: 0, ignored: 0 };

const scanner = ({ scanner: status }: Snapshot) => ({ status, detections: detections(status) });

const scanned = ({ scanner: status }: Snapshot, total: number) => ({
  total,
  scanned: status === null ? 0 : total,
});

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
