/** Adding and removing sites while the service runs. */

import type { Site } from '../model/site.ts';
import type { World } from '../model/world.ts';
import { nextNumber } from './ids.ts';
import { scheduledReportOf } from './scheduled-reports.ts';
import { MINUTE } from './service-time.ts';
import { newSite } from './site.ts';
import { planDailySync } from './syncs.ts';
import { untagSite } from './tags.ts';

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
