/** The life of a sync (spec 3, "Site sync", and 4.15): from the start on demand to its snapshot's end. */
import { cannot, conflict } from '../refusal.ts';
import { DAY, nextTimeOfDay, utcDay } from './service-time.ts';
import type { Site } from './site.ts';
import { endSnapshot, newSnapshot, type Snapshot, snapshotsOf } from './snapshots.ts';
import type { World } from './world.ts';

/** On-demand syncs a site may start in one UTC day. */
export const DAILY_SYNCS = 5;

/**
 * Starts a sync on demand; `note` is kept with its snapshot. A paused site can be synced: pausing stops its daily syncs.
 *
 * @throws {Refusal} when a precondition does not hold.
 */
export function startSync(world: World, site: Site, now: number, note: string | null): Snapshot {
  requireReady(site, now);
  const { sync } = site;
  const snapshots = snapshotsOf(site);
  const snapshot = newSnapshot(site, (snapshots.at(-1)?.number ?? 0) + 1, now, note);
  snapshots.push(snapshot);
  sync.used = syncsUsed(site, now) + 1;
  sync.usedOn = utcDay(now);
  sync.current = snapshot.id;
  world.agenda.add(now + sync.takesMs, { does: 'end-sync', site: site.id, snapshot: snapshot.id });
  return snapshot;
}

/** How many on-demand syncs the site has started on the present day. */
export const syncsUsed = ({ sync }: Site, now: number): number =>
  sync.usedOn === utcDay(now) ? sync.used : 0;

export const isUnderMaintenance = ({ sync }: Site, now: number): boolean =>
  sync.maintenanceUntil !== null && now < sync.maintenanceUntil;

/** 409 for what ends by itself within minutes, 422 for what does not (the spec does not show which is which). */
function requireReady(site: Site, now: number): void {
  if (site.sync.current) throw conflict('sync_in_progress', 'A sync of this site is already running.');
  if (!site.connected) throw cannot('site_disconnected', 'The site is disconnected.');
  if (site.locked) throw cannot('site_locked', 'The site is locked.');
  if (isUnderMaintenance(site, now)) throw cannot('site_under_maintenance', 'The site is under maintenance.');
  if (syncsUsed(site, now) >= DAILY_SYNCS) {
    throw cannot('daily_sync_limit_reached', `A site takes ${DAILY_SYNCS} on-demand syncs a day.`);
  }
}

/** Ends a sync at its time. A site that was deleted meanwhile has nothing to end. */
export function endSync(world: World, siteId: string, snapshotId: string, at: number): void {
  const site = world.sites.get(siteId);
  const snapshot = site && snapshotsOf(site).find((one) => one.id === snapshotId);
  if (!site || !snapshot || site.sync.current !== snapshotId) return;
  const { sync, backups } = site;
  const error = sync.nextFailsWith ?? sync.failsWith;
  endSnapshot(site, snapshot, error);
  sync.current = null;
  sync.nextFailsWith = null;
  sync.lastAt = at;
  sync.lastStatus = error === null ? 'succeeded' : 'failed';
  sync.lastError = error;
  sync.nextAt = nextSyncAfter(site, at);
  site.updatedAt = at;
  if (!backups.enabled) return;
  backups.latest = snapshot;
  if (error === null) backups.available += 1;
}

/** The next daily sync once one has ended: on the following day. A paused site has none. */
export function nextSyncAfter({ sync }: Site, at: number): number | null {
  if (sync.paused) return null;
  const midnight = Math.floor(at / DAY) * DAY + DAY;
  return nextTimeOfDay(sync.dailyTime, midnight - 1);
}
