/** Sites that are added and removed while the service runs, and what they are grouped by or what else the account has. */
import { isoDay } from '../../dates.ts';
import type { Site, Snapshot } from '../model/site.ts';
import type { World } from '../model/world.ts';
import { cannot, conflict } from '../refusal.ts';
import { untagSite } from '../resources/tags.ts';
import { idOf, nextNumber } from './numbers.ts';
import { scheduledReportOf } from './reports.ts';
import { endSnapshot, newSnapshot, snapshotsOf } from './snapshots.ts';
import { DAY, MINUTE, nextTimeOfDay, SECOND } from './time.ts';

// A site of the fleet.

/** A plain healthy site, connected and never synced; `facts` overrides its fields. */
export const newSite = (
  number: number,
  facts: Pick<Site, 'url' | 'title' | 'createdAt'> & Partial<Site>,
): Site => ({
  id: idOf('site', number),
  number,
  updatedAt: facts.createdAt,
  clientId: null,
  tagIds: [],
  connected: true,
  stickyIp: null,
  httpAuth: null,
  locked: false,
  multisite: false,
  server: { hosting: null, mysql_version: null, php_version: null },
  scanner: { enabled: true, status: null, malwareDetectedAt: null, checkedAt: null },
  backups: {
    supported: true,
    enabled: true,
    realTime: false,
    retentionDays: 90,
    available: 0,
    latest: null,
  },
  files: { items: 1_200, bytes: 60_000_000, ignored: 0 },
  database: { items: 12, bytes: 4_000_000, ignored: 0 },
  performance: { enabled: false, score: 80 },
  analyticsEnabled: false,
  activityLogsEnabled: false,
  activityBefore: false,
  configuringUntil: 0,
  uptime: { enabled: false, status: null },
  core: { current: LATEST_CORE, latest: LATEST_CORE, locked: false, vulnerable: false },
  sync: {
    paused: false,
    dailyTime: '03:00Z',
    lastAt: null,
    lastStatus: null,
    lastError: null,
    nextAt: null,
    current: null,
    takesMs: 30_000,
    failsWith: null,
    nextFailsWith: null,
    maintenanceUntil: null,
    used: 0,
    usedOn: '',
  },
  past: { count: 0, last: null },
  unseen: [],
  snapshots: undefined,
  ...facts,
});

export const LATEST_CORE = '6.8.3';

// Syncs of sites (spec 3, "Site sync", and 4.15), from the start to the end of the snapshot.

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

/** How long it takes until the plugin is installed on a registered site. */
const CONNECTS_AFTER = 5 * MINUTE;

/** Registers a site. It is disconnected until its plugin is installed, after five minutes. */
export function registerSite(world: World, url: string, now: number): Site {
  const site = newSite(nextNumber(world, 'site'), { url, title: new URL(url).host, createdAt: now });
  site.connected = false;
  world.sites.set(site.id, site);
  planDailySync(world, site, now);
  world.agenda.add(now + CONNECTS_AFTER, { does: 'connect-site', site: site.id });
  return site;
}

/** Disconnected -> connected: from now on the service knows the site's software. */
export function connectSite(world: World, id: string, at: number): void {
  const site = world.sites.get(id);
  if (!site || site.connected) return;
  site.connected = true;
  site.server = { hosting: 'Northwind Hosting', mysql_version: '8.0.39', php_version: '8.3.14' };
  site.updatedAt = at;
}

/** Removes a site from the account, with its notes, log and staging copies. Its running sync ends. */
export function removeSite(world: World, site: Site): void {
  for (const id of [...site.tagIds]) {
    const tag = world.tags.get(id);
    if (tag) untagSite(tag, site);
  }
  const client = site.clientId === null ? undefined : world.clients.get(site.clientId);
  client?.siteIds.delete(site.id);
  for (const { fields } of world.team.values()) fields.siteIds.delete(site.id);
  for (const staging of world.staging.values()) {
    if (staging.siteId === site.id) world.staging.delete(staging.id);
  }
  const scheduled = scheduledReportOf(world, site.id);
  if (scheduled) world.reporting.scheduled.delete(scheduled.id);
  world.notes.delete(site.id);
  world.customWorks.delete(site.id);
  world.activity.delete(site.id);
  world.sites.delete(site.id);
}

// Changes of one site's configuration, one after the other (spec 4.18, 7).

/** The duration of a change. Its result is visible immediately. */
const TAKES_MS = 10 * SECOND;

/**
 * Begins a change of the site's configuration.
 *
 * @throws {Refusal} 409 while another one is in progress.
 */
export function configure(site: Site, at: number): void {
  requireUnconfigured(site, at);
  site.configuringUntil = at + TAKES_MS;
  site.updatedAt = at;
}

/** @throws {Refusal} 409 while a change of the site's configuration is in progress. */
export function requireUnconfigured(site: Site, at: number): void {
  if (at < site.configuringUntil) {
    throw conflict(
      'site_configuration_in_progress',
      "Another change of the site's configuration is running.",
    );
  }
}
