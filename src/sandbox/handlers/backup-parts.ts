/**
 * Checks that are common to requests about a snapshot: which one, which parts, and up to what time (spec
 * 4.14, 4.20).
 */

import type { Site, Snapshot } from '../model/site.ts';
import type { World } from '../model/world.ts';
import { cannot, notFound } from '../refusal.ts';
import { snapshotsOf } from '../world/snapshots.ts';
import { siteOf } from './lookup.ts';

/**
 * A complete snapshot.
 *
 * @throws {Refusal} 404 when the site or snapshot does not exist; 422 when the site has no backups or the
 * snapshot is not complete.
 */
export function completedSnapshotOf(
  world: World,
  siteId: string,
  snapshotId: string,
): { site: Site; snapshot: Snapshot } {
  const site = siteWithBackups(world, siteId);
  const snapshot = snapshotsOf(site).find(({ id }) => id === snapshotId);
  if (!snapshot) throw notFound('snapshot', snapshotId);
  if (snapshot.status !== 'succeeded') {
    throw cannot('snapshot_not_complete', `The snapshot is ${snapshot.status}, not succeeded.`);
  }
  return { site, snapshot };
}

/** @throws {Refusal} 404 when there is no such site; 422 unless it has backups and they are enabled. */
export function siteWithBackups(world: World, id: string): Site {
  const site = siteOf(world, id);
  if (!site.backups.supported) throw cannot('plan_without_backups', "The site's plan has no backups.");
  if (!site.backups.enabled) throw cannot('backups_disabled', 'Backups are not enabled on this site.');
  return site;
}

interface Events {
  real_time_events?: { enabled: boolean; until?: string | undefined } | undefined;
}

/** Real-time events exist for sites with real-time backups, from the snapshot up to now. */
export function requireEvents(
  site: Site,
  { createdAt }: Snapshot,
  options: Events | undefined,
  now: number,
): void {
  const events = options?.real_time_events;
  if (!events?.enabled || events.until === undefined) return;
  if (!site.backups.realTime) throw cannot('no_real_time_backups', 'The site is not backed up in real time.');
  const until = Date.parse(events.until);
  if (until < createdAt || until > now) {
    throw cannot('until_out_of_range', 'Real-time events reach from the snapshot to the present.');
  }
}
