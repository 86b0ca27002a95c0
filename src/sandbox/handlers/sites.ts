/** Sites and their syncs (spec 4.15). */

import type { Site } from '../model/site.ts';
import type { World } from '../model/world.ts';
import { cannot } from '../refusal.ts';
import { reducedSite, siteDetails, siteView } from '../views/site.ts';
import { registerSite, removeSite } from '../world/account.ts';
import { noteActivity, serviceDid } from '../world/activity.ts';
import { configure } from '../world/configuration.ts';
import { planDailySync, startSync } from '../world/syncs.ts';
import { type Handler, lists } from './handler.ts';
import { siteOf } from './lookup.ts';

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
