/**
 * Tags and which sites carry them (spec 2.15). `Site.tagIds` and `Tag.siteIds` are two sides of one thing,
 * kept here.
 */
import type { Site } from '../model/site.ts';
import type { Tag } from '../model/tags.ts';
import type { World } from '../model/world.ts';

/** Tags that one site can carry. */
export const TAGS_PER_SITE = 10;

export function tagSite(tag: Tag, site: Site): void {
  tag.siteIds.add(site.id);
  site.tagIds.push(tag.id);
}

export function untagSite(tag: Tag, site: Site): void {
  tag.siteIds.delete(site.id);
  site.tagIds = site.tagIds.filter((id) => id !== tag.id);
}

/** Removes the tag, from all sites too. */
export function removeTag(world: World, tag: Tag): void {
  for (const id of tag.siteIds) {
    const site = world.sites.get(id);
    if (site) untagSite(tag, site);
  }
  world.tags.delete(tag.id);
}
