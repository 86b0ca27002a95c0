/** Sites and their syncs (spec 4.15). */
import type { ReducedSite, Site as ShownSite, SiteDetails } from '../../contract/operations/sites.ts';
import type { Extent, Site } from '../model/site.ts';
import type { World } from '../model/world.ts';
import { cannot } from '../refusal.ts';
import { configure, planDailySync, registerSite, removeSite, startSync } from '../world/sites.ts';
import { DAY } from '../world/time.ts';
import { noteActivity, serviceDid } from './activity-logs.ts';
import { type Handler, lists, shown, shownOrNull, siteOf } from './handler.ts';

// The views of a site: in lists, alone, and reduced (spec 2.17).

/** A site in lists. */
export const siteView = (world: World, site: Site): ShownSite => ({
  ...common(world, site),
  connection: connection(site),
  security: { enabled: site.scanner.enabled, scanner: scanner(site), firewall: firewall(site) },
  backups: backups(site),
  wp: { core: core(site), default_wp_object_id: 1 },
});

/** The single view of a site, with credentials if they are configured. */
export const siteDetails = (world: World, site: Site): SiteDetails => ({
  ...common(world, site),
  connection: {
    ...connection(site),
    ...(site.stickyIp === null ? {} : { sticky_ip: site.stickyIp }),
    ...(site.httpAuth === null ? {} : { http_auth: site.httpAuth }),
  },
  security: {
    enabled: site.scanner.enabled,
    scanner: { ...scanner(site), files: scanned(site, site.files), database: scanned(site, site.database) },
    firewall: firewall(site),
  },
  backups: { ...backups(site), files: countPair(site.files), database: countPair(site.database) },
  wp: { core: { ...core(site), vulnerable: site.core.vulnerable }, default_wp_object_id: 1 },
});

/** The answer to creating a site. */
export const reducedSite = (site: Site): ReducedSite => ({
  id: site.id,
  url: site.url,
  connection: connection(site),
  created_at: shown(site.createdAt),
  updated_at: shown(site.updatedAt),
});

/** Items and bytes: total, backed up, and excluded. */
export function countPair({ items, bytes, ignored }: Extent) {
  const ignoredBytes = items === 0 ? 0 : Math.floor((bytes / items) * ignored);
  return {
    count: { total: items, synced: items - ignored, ignored },
    size: { total: bytes, synced: bytes - ignoredBytes, ignored: ignoredBytes },
  };
}

/** The findings of a scan; a hacked site has some. */
export const detections = (status: 'clean' | 'hacked' | null) =>
  status === 'hacked' ? { files: 3, scripts: 1, cron_jobs: 1 } : { files: 0, scripts: 0, cron_jobs: 0 };

const common = (world: World, site: Site) => ({
  id: site.id,
  title: site.title,
  url: site.url,
  home_url: site.url,
  created_at: shown(site.createdAt),
  updated_at: shown(site.updatedAt),
  client: clientOf(world, site),
  tags: site.tagIds.map((id) => ({ id, name: world.tags.get(id)?.name ?? '' })),
  server: site.server,
  sync: {
    last_sync_at: shownOrNull(site.sync.lastAt),
    next_sync_at: shownOrNull(site.sync.nextAt),
    last_sync_status: site.sync.lastStatus,
    last_sync_error: site.sync.lastError,
    interval: 'daily',
    daily_sync_time: site.sync.dailyTime,
    paused: site.sync.paused,
    in_progress: site.sync.current !== null,
  },
  performance: { enabled: site.performance.enabled },
  analytics: { enabled: site.analyticsEnabled },
  activity_logs: { enabled: site.activityLogsEnabled },
  uptime: site.uptime,
  screenshot: { thumbnail_url: `${site.url}/thumbnail.png`, updated_at: shown(site.createdAt) },
  locked: site.locked,
  multisite: site.multisite,
});

function clientOf(world: World, site: Site) {
  const client = site.clientId === null ? undefined : world.clients.get(site.clientId);
  if (!client) return null;
  const { first_name, last_name, email, company_name } = client.fields;
  return { id: client.id, first_name, last_name, email, company_name };
}

const connection = (site: Site) => ({ status: site.connected ? 'connected' : 'disconnected' });

const scanner = ({ scanner: { enabled, status, malwareDetectedAt, checkedAt } }: Site) => ({
  status,
  malware_detected_at: shownOrNull(malwareDetectedAt),
  interval: enabled ? 'daily' : null,
  last_check_at: shownOrNull(checkedAt),
  next_check_at: checkedAt === null ? null : shown(checkedAt + DAY),
  detections: detections(status),
});

const firewall = ({ scanner: { enabled } }: Site) => ({
  enabled,
  mode: enabled ? 'protect' : null,
  advanced: false,
  bot_protection: { enabled },
});

const scanned = (site: Site, { items }: Extent) => ({
  total: items,
  scanned: site.scanner.checkedAt === null ? 0 : items,
});

const backups = ({ backups: { enabled, realTime, available, retentionDays, latest } }: Site) => ({
  enabled,
  real_time: realTime,
  available_snapshots: available,
  retention_days: retentionDays,
  latest_snapshot: latest && {
    id: latest.id,
    created_at: shown(latest.createdAt),
    status: latest.status,
  },
});

const core = ({ core: { current, latest, locked } }: Site) => ({
  current_version: current,
  latest_version: latest,
  update_available: current !== latest,
  locked,
});

export const listSites = lists<'listSites', Site>({
  items: ({ world }) => world.sites.values(),
  fields: {
    id: (site) => site.id,
    paused: (site) => site.sync.paused,
    security: (site) => site.scanner.enabled,
    backups: (site) => site.backups.enabled,
    performance: (site) => site.performance.enabled,
    connection_status: (site) => (site.connected ? 'connected' : 'disconnected'),
    client_id: (site) => site.clientId,
    uptime: (site) => site.uptime.enabled,
    scanner_status: (site) => site.scanner.status,
    locked: (site) => site.locked,
    php_version: (site) => site.server.php_version,
    url: (site) => site.url,
    created_at: (site) => site.createdAt,
    updated_at: (site) => site.updatedAt,
    last_sync_at: (site) => site.sync.lastAt,
    tags: (site) => site.tagIds,
  },
  view: (site, { world }) => siteView(world, site),
});

export const showSite: Handler<'showSite'> = ({ world, params }) => ({
  site: siteDetails(world, siteOf(world, params.site_id)),
});

export const createSite: Handler<'createSite'> = ({ world, now, body, changed }) => {
  const { url, connection } = body.site;
  const site = registerSite(world, requireFreeUrl(world, url), now);
  site.stickyIp = connection?.sticky_ip ?? null;
  site.httpAuth = connection?.http_auth ?? null;
  changed(site.id);
  return { site: reducedSite(site) };
};

export const updateSite: Handler<'updateSite'> = ({ world, now, params, body, changed }) => {
  const site = siteOf(world, params.site_id);
  const { url, connection, sync } = body.site;
  const wanted = {
    url: url === undefined ? site.url : requireFreeUrl(world, url, site),
    stickyIp: connection?.sticky_ip === undefined ? site.stickyIp : connection.sticky_ip,
    httpAuth: connection?.http_auth === undefined ? site.httpAuth : connection.http_auth,
    dailyTime: sync?.daily_sync_time ?? site.sync.dailyTime,
  };
  if (sync?.daily_sync_time !== undefined) requireTimeOfDay(sync.daily_sync_time);
  if (applySettings(world, site, wanted, now)) {
    site.updatedAt = now;
    noteActivity(
      world,
      site,
      serviceDid('site', 'changed', { settings: Object.keys(body.site).join(', ') }),
      now,
    );
    changed(site.id);
  }
  return { site: { ...reducedSite(site), sync: { daily_sync_time: site.sync.dailyTime } } };
};

type Settings = Pick<Site, 'url' | 'stickyIp' | 'httpAuth'> & Pick<Site['sync'], 'dailyTime'>;

/** Returns whether anything changed. */
function applySettings(world: World, site: Site, { dailyTime, ...settings }: Settings, now: number): boolean {
  const { url, stickyIp, httpAuth, sync } = site;
  const before = JSON.stringify([url, stickyIp, httpAuth, sync.dailyTime]);
  Object.assign(site, settings);
  if (dailyTime !== sync.dailyTime) {
    sync.dailyTime = dailyTime;
    planDailySync(world, site, now);
  }
  return before !== JSON.stringify([site.url, site.stickyIp, site.httpAuth, sync.dailyTime]);
}

export const deleteSite: Handler<'deleteSite'> = ({ world, params, changed }) => {
  const site = siteOf(world, params.site_id);
  removeSite(world, site);
  changed(site.id);
};

export const syncSite: Handler<'syncSite'> = ({ world, now, params, body, changed }) => {
  const site = siteOf(world, params.site_id);
  const snapshot = startSync(world, site, now, body?.sync.message ?? null);
  noteActivity(world, site, serviceDid('site', 'updated', { sync: snapshot.id }), now);
  changed(site.id);
  return { sync: { snapshot_id: snapshot.id, in_progress: true } };
};

export const enableSiteBackups: Handler<'enableSiteBackups'> = ({ world, now, params, changed }) => {
  const site = siteOf(world, params.site_id);
  if (!site.backups.supported) throw cannot('plan_without_backups', "The site's plan has no backups.");
  if (!site.backups.enabled) {
    configure(site, now);
    site.backups.enabled = true;
    noteActivity(world, site, serviceDid('site', 'changed', { backups: 'enabled' }), now);
    changed(site.id);
  }
  return { site: { id: site.id, url: site.url, backups: { enabled: true } } };
};

/** The normalized address. @throws {Refusal} 422 when it is invalid or already in the account. */
function requireFreeUrl(world: World, given: string, own?: Site): string {
  const url = URL.canParse(given) ? new URL(given) : undefined;
  if (!url || !['http:', 'https:'].includes(url.protocol)) {
    throw cannot('invalid_url', 'A site has an address that begins with http:// or https://.');
  }
  const kept = url.href.replace(/\/$/, '');
  for (const site of world.sites.values()) {
    if (site.url === kept && site !== own) throw cannot('site_exists', 'The account has this site already.');
  }
  return kept;
}

function requireTimeOfDay(time: string): void {
  if (Number.isNaN(Date.parse(`2000-01-01T${time}`))) {
    throw cannot('invalid_daily_sync_time', `There is no time of day "${time}".`);
  }
}
