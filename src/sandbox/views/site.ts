/** The views of a site: in lists, alone, and reduced (spec 2.17). */
import type { ReducedSite, Site as ShownSite, SiteDetails } from '../../contract/resources/site.ts';
import type { Extent, Site } from '../model/site.ts';
import type { World } from '../model/world.ts';
import { DAY } from '../world/service-time.ts';
import { shown, shownOrNull } from './account.ts';

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
