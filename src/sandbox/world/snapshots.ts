/** Backup snapshots of a site (spec 2.21). Each sync makes one. */

import type { Site, Snapshot } from '../model/site.ts';
import { idOf } from './numbers.ts';
import { DAY } from './time.ts';

/** One of this many past snapshots failed. */
const PAST_FAILS_EVERY = 13;

/**
 * All snapshots of a site, oldest first.
 *
 * Those from before the sandbox started are generated at the first request: 10,000 sites have a quarter of a
 * million of them, and most are never read.
 */
export function snapshotsOf(site: Site): Snapshot[] {
  if (site.snapshots) return site.snapshots;
  const { count } = site.past;
  site.snapshots = [
    ...Array.from({ length: count }, (_, at) => pastSnapshot(site, at + 1)),
    ...site.unseen.map((at, nth) => madeSnapshot(site, count + nth + 1, at, null, null)),
    ...(site.sync.current ? [site.sync.current] : []),
  ];
  site.unseen = [];
  return site.snapshots;
}

/** The snapshot with this number from before the sandbox started: one per day, back from the last sync. */
function pastSnapshot(site: Site, number: number): Snapshot {
  const { count, last } = site.past;
  const daysAgo = count - number;
  if (daysAgo === 0 && last) return last;
  return pastSnapshotAt(site, number, (last?.createdAt ?? 0) - daysAgo * DAY, pastError(number));
}

/** The newest snapshot of a site that is being generated; `error` is the result of its sync. */
export const lastPastSnapshot = (site: Site, createdAt: number, error: string | null): Snapshot =>
  pastSnapshotAt(site, site.past.count, createdAt, error);

const pastSnapshotAt = (site: Site, number: number, createdAt: number, error: string | null): Snapshot =>
  madeSnapshot(site, number, createdAt, error, number % 10 === 0 ? 'Before an update' : null);

function madeSnapshot(
  site: Site,
  number: number,
  createdAt: number,
  error: string | null,
  note: string | null,
): Snapshot {
  const snapshot = newSnapshot(site, number, createdAt, note);
  endSnapshot(site, snapshot, error);
  const hackedAt = site.scanner.malwareDetectedAt;
  if (snapshot.scanner === 'hacked' && hackedAt !== null && createdAt < hackedAt) snapshot.scanner = 'clean';
  return snapshot;
}

/** A snapshot whose sync has just started. */
export function newSnapshot(site: Site, number: number, createdAt: number, note: string | null): Snapshot {
  const id = `${idOf('snapshot', site.number)}-${String(number).padStart(4, '0')}`;
  const nothing = { error: null, scanner: null, filesSynced: 0, tablesSynced: 0 };
  return { id, number, createdAt, status: 'in_progress', note, ...nothing };
}

/** Ends a snapshot, with the content of the site or with an error. */
export function endSnapshot(site: Site, snapshot: Snapshot, error: string | null): void {
  if (error !== null) {
    snapshot.status = 'failed';
    snapshot.error = error;
    return;
  }
  snapshot.status = 'succeeded';
  snapshot.scanner = site.scanner.enabled ? site.scanner.status : null;
  snapshot.filesSynced = site.files.items - site.files.ignored;
  snapshot.tablesSynced = site.database.items - site.database.ignored;
}

const pastError = (number: number): string | null =>
  number % PAST_FAILS_EVERY === 0 ? 'The site did not answer in time.' : null;

/** How many of the first `count` past snapshots succeeded. */
export const pastSuccesses = (count: number): number => count - Math.floor(count / PAST_FAILS_EVERY);
