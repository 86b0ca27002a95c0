/** Generates one site of the fleet from its own seed: a site is the same whatever other sites exist. */

import { isoDay } from '../../dates.ts';
import type { Site } from '../model/site.ts';
import type { World } from '../model/world.ts';
import { type Random, randomFrom, seedOf } from '../world/numbers.ts';
import { DAILY_SYNCS, LATEST_CORE, newSite, planDailySync } from '../world/sites.ts';
import { lastPastSnapshot, pastSuccesses } from '../world/snapshots.ts';
import { DAY, HOUR, MINUTE, nextTimeOfDay, SECOND } from '../world/time.ts';
import { places, slug, trades } from './names.ts';

// The special kinds of sites, and how many of each kind a fleet has.

/**
 * The number of sites of each kind in a fleet of 60. Other fleets have proportionally many, rounded down, so
 * a fleet of fewer than 10 sites has plain sites only. The first six kinds prevent a sync or make it fail (14
 * of 60).
 */
const amongSixty = {
  disconnected: 3,
  paused: 2,
  locked: 2,
  daily_limit: 2,
  maintenance: 3,
  sync_fails: 2,
  hacked: 2,
  vulnerable_core: 3,
  outdated_php: 6,
  no_backups: 2,
  plan_without_backups: 1,
  multisite: 3,
  never_synced: 2,
  lagging: 10,
} as const;

type Kind = keyof typeof amongSixty;

/** Assigns the kinds to sites by number, at most one per site; the other sites are plain. */
export function assignKinds(sites: number, random: Random): Map<number, Kind> {
  const kinds = Object.entries(amongSixty).flatMap(([kind, count]) =>
    Array.from({ length: Math.floor((count * sites) / 60) }, () => kind as Kind),
  );
  const numbers = random.shuffle(Array.from({ length: sites }, (_, at) => at + 1));
  return new Map(kinds.map((kind, at) => [numbers[at] ?? 0, kind]));
}

/** Adds the site with this number, one of `count`. Call it in ascending order. */
export function generateSite(world: World, number: number, count: number, kind: Kind | undefined): void {
  const random = randomFrom(seedOf(world.seed, `site ${number}`));
  const now = world.startedAt;
  const title = `${random.pick(places)} ${random.pick(trades)}`;
  // Older sites have lower numbers; the newest is two months old.
  const createdAt = now - 60 * DAY - Math.floor(((count - number) / count) * 3 * 365 * DAY);
  const site = newSite(number, {
    title,
    url: `https://${slug(title)}-${number}.example`,
    createdAt,
    multisite: kind === 'multisite',
    ...hosting(random, kind),
    ...extents(random),
    ...services(random, now),
  });
  world.numbers.site = number;
  world.sites.set(site.id, site);
  giveSchedule(site, random);
  // The order matters: past snapshots show the results of the scanner.
  give(site, kind, now);
  if (kind !== 'never_synced') giveHistory(site, random, now, kind);
  moveDailyTime(site, now);
  planDailySync(world, site, now);
}

function hosting(random: Random, kind: Kind | undefined): Pick<Site, 'server' | 'core'> {
  const recent = random.pick(['8.1.29', '8.2.22', '8.3.10', '8.3.14']);
  const old = random.pick(['7.2.34', '7.4.33', '8.0.30']);
  const current = random.pick([LATEST_CORE, LATEST_CORE, LATEST_CORE, '6.8.2', '6.7.1']);
  const vulnerable = kind === 'vulnerable_core';
  return {
    server: {
      hosting: random.pick(['Northwind Hosting', 'Bluehill', 'Cloudacre', 'Greenrack']),
      mysql_version: random.pick(['8.0.39', '10.6.18-MariaDB', '10.11.8-MariaDB']),
      php_version: kind === 'outdated_php' ? old : recent,
    },
    core: { current: vulnerable ? '6.4.2' : current, latest: LATEST_CORE, locked: false, vulnerable },
  };
}

function extents(random: Random): Pick<Site, 'files' | 'database'> {
  const files = random.between(2_000, 40_000);
  const tables = random.between(12, 90);
  return {
    files: { items: files, bytes: files * random.between(20_000, 90_000), ignored: random.between(0, 40) },
    database: { items: tables, bytes: tables * random.between(50_000, 900_000), ignored: 0 },
  };
}

function services(random: Random, now: number): Partial<Site> {
  const uptime = random.next() < 0.7;
  return {
    scanner: {
      enabled: true,
      status: 'clean',
      malwareDetectedAt: null,
      checkedAt: now - random.between(1, 20) * HOUR,
    },
    performance: { enabled: random.next() < 0.6, score: random.between(45, 99) },
    analyticsEnabled: random.next() < 0.3,
    ...activityLogs(random.next() < 0.8),
    uptime: { enabled: uptime, status: uptime ? 'up' : null },
  };
}

const activityLogs = (on: boolean) => ({ activityLogsEnabled: on, activityBefore: on });

function giveSchedule({ sync, backups }: Site, random: Random): void {
  const hour = String(random.between(0, 23)).padStart(2, '0');
  sync.dailyTime = `${hour}:${random.pick(['00', '15', '30', '45'])}Z`;
  sync.takesMs = random.between(20 * SECOND, 90 * SECOND);
  backups.realTime = random.next() < 0.1;
  backups.retentionDays = random.pick([90, 90, 90, 365]);
}

/**
 * No site of the fleet syncs by itself this soon after the start, so that people can try things undisturbed.
 */
const QUIET_HOURS = 8;

/** Moves a daily sync out of the quiet hours, as if its time had just been changed. */
function moveDailyTime({ sync }: Site, now: number): void {
  if (nextTimeOfDay(sync.dailyTime, now) - now >= QUIET_HOURS * HOUR) return;
  const [hour = '0', rest = ''] = sync.dailyTime.split(':');
  sync.dailyTime = `${String((Number(hour) + 12) % 24).padStart(2, '0')}:${rest}`;
}

const SYNC_ERROR = 'The database could not be read: connection lost.';
/** The error because of which the syncs of the day are used up. */
const UNREACHABLE = 'The site could not be reached.';

/** Applies the special state of its kind to the site. */
function give(site: Site, kind: Kind | undefined, now: number): void {
  if (!kind) return;
  const { sync, scanner, backups } = site;
  const changes: Partial<Record<Kind, () => void>> = {
    disconnected: () => {
      site.connected = false;
    },
    paused: () => {
      sync.paused = true;
    },
    locked: () => {
      site.locked = true;
    },
    daily_limit: () => {
      Object.assign(sync, { used: DAILY_SYNCS, usedOn: isoDay(now) });
    },
    maintenance: () => {
      sync.maintenanceUntil = now + 3 * HOUR + (site.number % 6) * HOUR;
    },
    sync_fails: () => {
      sync.failsWith = SYNC_ERROR;
    },
    hacked: () => {
      Object.assign(scanner, { status: 'hacked', malwareDetectedAt: now - 2 * DAY - 5 * HOUR });
    },
    no_backups: () => {
      backups.enabled = false;
    },
    plan_without_backups: () => {
      Object.assign(backups, { supported: false, enabled: false });
    },
  };
  changes[kind]?.();
}

/** How many daily syncs a site of this kind has missed. */
function daysWithoutSync(kind: Kind | undefined, random: Random): number {
  // Disconnected or paused for some days.
  if (kind === 'disconnected' || kind === 'paused') return random.between(4, 9);
  // Was disconnected until recently; its next daily sync is still to come.
  if (kind === 'lagging') return random.between(1, 3);
  // Is not synced during the maintenance.
  return kind === 'maintenance' ? 1 : 0;
}

/** A site without backups has been synced too, but has no visible snapshots. */
function giveHistory(site: Site, random: Random, now: number, kind: Kind | undefined): void {
  const { sync, backups } = site;
  // From one month to four, so that only some sites have snapshots of all of last month.
  const age = Math.floor((now - site.createdAt) / DAY);
  const days = Math.min(random.between(10, 40) * 3, age - 1);
  const daysAgo = daysWithoutSync(kind, random);
  const startedAt = nextTimeOfDay(sync.dailyTime, now) - (daysAgo + 1) * DAY;
  sync.lastAt = Math.min(startedAt + sync.takesMs, now - MINUTE);
  const error = sync.failsWith ?? (kind === 'daily_limit' ? UNREACHABLE : null);
  // A failed sync is at least two hours old, so that it does not look as if it had just ended.
  if (error !== null) sync.lastAt = Math.min(sync.lastAt, now - 2 * HOUR);
  sync.lastStatus = error === null ? 'succeeded' : 'failed';
  sync.lastError = error;
  site.updatedAt = sync.lastAt;
  if (!backups.enabled) return;
  site.past.count = days;
  site.past.last = lastPastSnapshot(site, sync.lastAt - sync.takesMs, error);
  backups.latest = site.past.last;
  backups.available = pastSuccesses(days - 1) + (error === null ? 1 : 0);
}
