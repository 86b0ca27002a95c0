/** Sites that come and go while the service runs. */
import { nextTimeOfDay } from './service-time.ts';
import { newSite, type Site } from './site.ts';
import { untagSite } from './tags.ts';
import { nextNumber, type World } from './world.ts';

/** Registers a site, which stays disconnected: in the real service a person installs its plugin. */
export function registerSite(world: World, url: string, now: number): Site {
  const site = newSite(nextNumber(world, 'site'), { url, title: new URL(url).host, createdAt: now });
  site.connected = false;
  site.sync.nextAt = nextTimeOfDay(site.sync.dailyTime, now);
  world.sites.set(site.id, site);
  return site;
}

/** Removes a site from the account, from its client and its tags. Its running sync ends with it. */
export function removeSite(world: World, site: Site): void {
  for (const id of [...site.tagIds]) {
    const tag = world.tags.get(id);
    if (tag) untagSite(tag, site);
  }
  const client = site.clientId === null ? undefined : world.clients.get(site.clientId);
  client?.siteIds.delete(site.id);
  world.sites.delete(site.id);
}
