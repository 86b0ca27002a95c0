/** Tags and their sites (spec 2.15). Keeps `Site.tagIds` and `Tag.siteIds` consistent. */

import type { Tag } from '../model/account.ts';
import type { Site } from '../model/site.ts';
import type { World } from '../model/world.ts';

/** The maximum number of tags per site. */
export const TAGS_PER_SITE = 10;

export function tagSite(tag: Tag, site: Site): void {
  tag.siteIds.add(site.id);
  site.tagIds.push(tag.id);
}

export function untagSite(tag: Tag, site: Site): void {
  tag.siteIds.delete(site.id);
  site.tagIds = site.tagIds.filter((id) => id !== tag.id);
}

/** Removes the tag, also from all sites. */
export function removeTag(world: World, tag: Tag): void {
  for (const id of tag.siteIds) {
    const site = world.sites.get(id);
    if (site) untagSite(tag, site);
  }
  world.tags.delete(tag.id);
}
