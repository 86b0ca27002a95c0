/** Syncs of sites (spec 3, "Site sync", and 4.15), from the start to the end of the snapshot. */

import { isoDay } from '../../dates.ts';
import type { Site, Snapshot } from '../model/site.ts';
import type { World } from '../model/world.ts';
import { cannot, conflict } from '../refusal.ts';
import { DAY, nextTimeOfDay } from './service-time.ts';
import { endSnapshot, newSnapshot, snapshotsOf } from './snapshots.ts';

/** The maximum number of on-demand syncs of a site per UTC day. */
export const DAILY_SYNCS = 5;

/**
 * Starts a sync on demand; `note` is stored in its snapshot. A paused site can be synced: pausing stops only
 * its daily syncs.
 *
 * @throws {Refusal} when a precondition does not hold.
 */
export function startSync(world: World, site: Site, now: number, note: string | null): Snapshot {
  requireReady(site, now);
  const { sync } = site;
  sync.used = syncsUsed(site, now) + 1;
  sync.usedOn = isoDay(now);
  // The note has to be stored, so the list of times is converted to snapshots.
  snapshotsOf(site);
  const snapshot = beginSync(world, site, now, note);
  // Today's daily sync is no longer needed.
  planDailySync(world, site, Math.floor(now / DAY) * DAY + DAY - 1);
  return snapshot;
}

/** Starts the daily sync that is due. A site that cannot be synced skips the day. */
export function startDailySync(world: World, id: string, at: number): void {
  const site = world.sites.get(id);
  // Its time was changed since, or a sync on demand has replaced this one.
  if (site?.sync.nextAt !== at) return;
  if (site.connected && !site.locked && !site.sync.current && !isUnderMaintenance(site, at)) {
    beginSync(world, site, at, null);
  }
  planDailySync(world, site, at);
}

/** Sets the next daily sync: the first after `from` at the site's time of day. A paused site has none. */
export function planDailySync(world: World, site: Site, from: number): void {
  const { sync } = site;
  const next = sync.paused ? null : nextTimeOfDay(sync.dailyTime, from);
  if (next !== null && next !== sync.nextAt) world.agenda.add(next, { does: 'daily-sync', site: site.id });
  sync.nextAt = next;
}

function beginSync(world: World, site: Site, at: number, note: string | null): Snapshot {
  const { sync, snapshots, past, unseen } = site;
  const before = snapshots ? (snapshots.at(-1)?.number ?? 0) : past.count + unseen.length;
  const snapshot = newSnapshot(site, before + 1, at, note);
  snapshots?.push(snapshot);
  sync.current = snapshot;
  world.agenda.add(at + sync.takesMs, { does: 'end-sync', site: site.id, snapshot: snapshot.id });
  return snapshot;
}

/** How many on-demand syncs the site has started today. */
export const syncsUsed = ({ sync }: Site, now: number): number =>
  sync.usedOn === isoDay(now) ? sync.used : 0;

export const isUnderMaintenance = ({ sync }: Site, now: number): boolean =>
  sync.maintenanceUntil !== null && now < sync.maintenanceUntil;

/**
 * 409 for a state that ends by itself within minutes, 422 for other states (the spec does not show which is
 * which).
 */
function requireReady(site: Site, now: number): void {
  if (site.sync.current) throw conflict('sync_in_progress', 'A sync of this site is already running.');
  if (!site.connected) throw cannot('site_disconnected', 'The site is disconnected.');
  if (site.locked) throw cannot('site_locked', 'The site is locked.');
  if (isUnderMaintenance(site, now)) throw cannot('site_under_maintenance', 'The site is under maintenance.');
  if (syncsUsed(site, now) >= DAILY_SYNCS) {
    throw cannot('daily_sync_limit_reached', `A site takes ${DAILY_SYNCS} on-demand syncs a day.`);
  }
}

/** Ends a sync at its time. Does nothing for a site that was deleted meanwhile. */
export function endSync(world: World, siteId: string, snapshotId: string, at: number): void {
  const site = world.sites.get(siteId);
  const snapshot = site?.sync.current;
  if (!site || snapshot?.id !== snapshotId) return;
  const { sync, backups } = site;
  const error = sync.nextFailsWith ?? sync.failsWith;
  // Only successful snapshots can be generated from their time alone.
  if (error !== null) snapshotsOf(site);
  else if (!site.snapshots) site.unseen.push(snapshot.createdAt);
  endSnapshot(site, snapshot, error);
  sync.current = null;
  sync.nextFailsWith = null;
  sync.lastAt = at;
  sync.lastStatus = error === null ? 'succeeded' : 'failed';
  sync.lastError = error;
  site.updatedAt = at;
  if (!backups.enabled) return;
  backups.latest = snapshot;
  if (error === null) backups.available += 1;
}
