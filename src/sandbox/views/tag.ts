/** The view of a tag (spec 2.15). */
import type { Tag as ShownTag } from '../../contract/resources/tag.ts';
import type { Tag } from '../model/tags.ts';
import { shown } from './timestamp.ts';

export const tagView = (tag: Tag): ShownTag => ({
  id: tag.id,
  name: tag.name,
  color: tag.color,
  site_ids: [...tag.siteIds],
  created_at: shown(tag.createdAt),
  updated_at: shown(tag.updatedAt),
});
