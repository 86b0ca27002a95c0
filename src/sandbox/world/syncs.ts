/** The life of a sync (spec 3, "Site sync", and 4.15): from the start on demand to its snapshot's end. */

import { isoDay } from '../../dates.ts';
import type { Site } from '../model/site.ts';
import type { Snapshot } from '../model/snapshots.ts';
import type { World } from '../model/world.ts';
import { cannot, conflict } from '../refusal.ts';
import { DAY, nextTimeOfDay } from './service-time.ts';
import { endSnapshot, newSnapshot, snapshotsOf } from './snapshots.ts';

/** On-demand syncs a site may start in one UTC day. */
export const DAILY_SYNCS = 5;

/**
 * Starts a sync on demand; `note` is kept with its snapshot. A paused site can be synced: pausing stops its
 * daily syncs.
 *
 * @throws {Refusal} when a precondition does not hold.
 */
export function startSync(world: World, site: Site, now: number, note: string | null): Snapshot {
  requireReady(site, now);
  const { sync } = site;
  sync.used = syncsUsed(site, now) + 1;
  sync.usedOn = isoDay(now);
  // Its note has to be kept, so its snapshots are no longer just moments.
  snapshotsOf(site);
  const snapshot = beginSync(world, site, now, note);
  // Today's daily sync is no longer needed.
  planDailySync(world, site, Math.floor(now / DAY) * DAY + DAY - 1);
  return snapshot;
}

/** Starts the daily sync that is due, or leaves it out for the day: a site that cannot be synced is not. */
export function startDailySync(world: World, id: string, at: number): void {
  const site = world.sites.get(id);
  // Its time has been changed since, or a sync on demand has taken the place of this one.
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

/** How many on-demand syncs the site has started on the present day. */
export const syncsUsed = ({ sync }: Site, now: number): number =>
  sync.usedOn === isoDay(now) ? sync.used : 0;

export const isUnderMaintenance = ({ sync }: Site, now: number): boolean =>
  sync.maintenanceUntil !== null && now < sync.maintenanceUntil;

/**
 * 409 for what ends by itself within minutes, 422 for what does not (the spec does not show which is which).
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

/** Ends a sync at its time. A site that was deleted meanwhile has nothing to end. */
export function endSync(world: World, siteId: string, snapshotId: string, at: number): void {
  const site = world.sites.get(siteId);
  const snapshot = site?.sync.current;
  if (!site || snapshot?.id !== snapshotId) return;
  const { sync, backups } = site;
  const error = sync.nextFailsWith ?? sync.failsWith;
  // Only what succeeded can be told from its moment alone.
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
