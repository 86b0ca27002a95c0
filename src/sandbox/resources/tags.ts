/** Tags and their assignment to sites (spec 4.13). */
import type { Tag as ShownTag } from '../../contract/operations/tags.ts';
import type { Tag } from '../model/account.ts';
import type { Site } from '../model/site.ts';
import type { World } from '../model/world.ts';
import { cannot } from '../refusal.ts';
import { nextNumber } from '../world/numbers.ts';
import { forEachOf, type Handler, itemIn, lists, requireColor, shown } from './handler.ts';

/** The view of a tag (spec 2.15). */
export const tagView = (tag: Tag): ShownTag => ({
  id: tag.id,
  name: tag.name,
  color: tag.color,
  site_ids: [...tag.siteIds],
  created_at: shown(tag.createdAt),
  updated_at: shown(tag.updatedAt),
});

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
export function remove(world: World, tag: Tag): void {
  for (const id of tag.siteIds) {
    const site = world.sites.get(id);
    if (site) untagSite(tag, site);
  }
  world.tags.delete(tag.id);
}

const tagOf = (world: World, id: string): Tag => itemIn(world.tags, 'tag', id);

export const listTags = lists<'listTags', Tag>({
  items: ({ world }) => world.tags.values(),
  fields: {
    name: (tag) => tag.name,
    color: (tag) => tag.color,
    created_at: (tag) => tag.createdAt,
    updated_at: (tag) => tag.updatedAt,
    site_id: (tag) => [...tag.siteIds],
  },
  view: tagView,
});

export const showTag: Handler<'showTag'> = ({ world, params }) => ({
  tag: tagView(tagOf(world, params.tag_id)),
});

export const createTag: Handler<'createTag'> = ({ world, now, body, changed }) => {
  const name = requireFreeName(world, body.tag.name);
  const { color = null } = body.tag;
  if (color !== null) requireColor(color);
  const id = String(nextNumber(world, 'tag'));
  const tag: Tag = { id, name, color, siteIds: new Set(), createdAt: now, updatedAt: now };
  world.tags.set(id, tag);
  changed(id);
  return { tag: tagView(tag) };
};

export const updateTag: Handler<'updateTag'> = ({ world, now, params, body, changed }) => {
  const tag = tagOf(world, params.tag_id);
  const name = body.tag.name === undefined ? tag.name : requireFreeName(world, body.tag.name, tag);
  const { color = tag.color } = body.tag;
  if (color !== null) requireColor(color);
  if (name !== tag.name || color !== tag.color) {
    Object.assign(tag, { name, color, updatedAt: now });
    changed(tag.id);
  }
  return { tag: tagView(tag) };
};

export const deleteTag: Handler<'deleteTag'> = ({ world, params, changed }) => {
  const tag = tagOf(world, params.tag_id);
  remove(world, tag);
  changed(tag.id);
};

export const assignTag: Handler<'assignTag'> = ({ world, params, body, changed }) => {
  const tag = tagOf(world, params.tag_id);
  const { ids, errors, meta } = forEachOf(world.sites, 'site', body.site_ids, (site) => {
    if (tag.siteIds.has(site.id)) return undefined;
    if (site.tagIds.length >= TAGS_PER_SITE)
      return { code: 'tag_limit_reached', message: `The site has ${TAGS_PER_SITE} tags already.` };
    tagSite(tag, site);
    changed(site.id);
    return undefined;
  });
  return { assign: { site_ids: ids, errors }, meta };
};

export const removeTag: Handler<'removeTag'> = ({ world, params, body, changed }) => {
  const tag = tagOf(world, params.tag_id);
  const { ids, errors, meta } = forEachOf(world.sites, 'site', body.site_ids, (site) => {
    if (!tag.siteIds.has(site.id)) return undefined;
    untagSite(tag, site);
    changed(site.id);
    return undefined;
  });
  return { remove: { site_ids: ids, errors }, meta };
};

function requireFreeName(world: World, given: string, own?: Tag): string {
  const name = given.trim();
  if (name === '') throw cannot('tag_name_blank', 'A tag needs a name.');
  for (const tag of world.tags.values()) {
    if (tag !== own && tag.name.toLowerCase() === name.toLowerCase()) {
      throw cannot('tag_name_taken', `There is a tag "${tag.name}" already.`);
    }
  }
  return name;
}
