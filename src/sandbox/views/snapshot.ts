/** The views of a snapshot (spec 2.21). */
import type { Snapshot as ShownSnapshot, SnapshotDetails } from '../../contract/resources/snapshot.ts';
import type { Extent, Site, Snapshot } from '../model/site.ts';
import { shown } from './account.ts';
import { countPair, detections } from './site.ts';

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
