/** Tags and their assignment to sites (spec 4.13). */
import { z } from 'zod';
import { field, ids, listTimestamp, text } from '../list.ts';
import { operation } from '../operation.ts';
import { BatchMeta, ItemRefusal, PageMeta } from '../resources/shared.ts';
import { Tag } from '../resources/tag.ts';
import { idOf, idSchema, part } from '../schema.ts';

const tag = part({ tag: Tag }, 'tag');
const siteIds = z.strictObject({ site_ids: z.array(idOf('site')) });
const assigned = part({ site_ids: z.array(idSchema), errors: z.array(ItemRefusal) }, 'site_ids', 'errors');

export const tagOperations = {
  listTags: operation({
    section: '4.13',
    summary: 'Lists tags.',
    method: 'GET',
    path: '/tags',
    success: 200,
    answer: part({ tags: z.array(Tag), meta: PageMeta }, 'tags'),
    errors: [400, 401, 403, 429],
    list: {
      key: 'tags',
      filters: {
        name: field('name', text('eq', 'contains')),
        color: field('color', text('eq')),
        created_at: field('created_at', listTimestamp('gte', 'lte')),
        updated_at: field('updated_at', listTimestamp('gte', 'lte')),
        site_id: ids('site', 'in'),
      },
      sorts: ['name', 'color', 'created_at', 'updated_at'],
      defaultSort: 'created_at,desc',
      timezone: true,
      paged: true,
    },
  }),
  createTag: operation({
    section: '4.13',
    summary: 'Creates a tag.',
    method: 'POST',
    path: '/tags',
    body: z.strictObject({ tag: z.strictObject({ name: z.string(), color: z.optional(z.string()) }) }),
    bodyRequired: true,
    success: 201,
    answer: tag,
    errors: [400, 401, 403, 422, 429],
    effect: 'once',
  }),
  showTag: operation({
    section: '4.13',
    summary: 'Shows a tag.',
    method: 'GET',
    path: '/tags/{tag_id}',
    success: 200,
    answer: tag,
    errors: [401, 403, 404, 429],
  }),
  deleteTag: operation({
    section: '4.13',
    summary: 'Deletes a tag and clears its assignments.',
    destructive: 'The tag is removed from every site that has it.',
    method: 'DELETE',
    path: '/tags/{tag_id}',
    success: 204,
    errors: [401, 403, 404, 422, 429],
    effect: 'repeatable',
  }),
  updateTag: operation({
    section: '4.13',
    summary: 'Changes the name or color of a tag.',
    method: 'POST',
    path: '/tags/{tag_id}/update',
    body: z.strictObject({
      tag: z
        .strictObject({ name: z.optional(z.string()), color: z.optional(z.string()) })
        .refine((fields) => Object.keys(fields).length > 0, {
          message: 'must hold name, color or both',
          params: { form: true },
        })
        .meta({ minProperties: 1 }),
    }),
    bodyRequired: true,
    success: 200,
    answer: tag,
    errors: [400, 401, 403, 404, 422, 429],
    effect: 'repeatable',
  }),
  assignTag: operation({
    section: '4.13',
    summary: 'Assigns a tag to sites.',
    method: 'POST',
    path: '/tags/{tag_id}/assign',
    body: siteIds,
    bodyRequired: true,
    success: 200,
    answer: part({ assign: assigned, meta: BatchMeta }, 'assign'),
    errors: [400, 401, 403, 404, 422, 429],
    effect: 'repeatable',
  }),
  removeTag: operation({
    section: '4.13',
    summary: 'Removes a tag from sites.',
    destructive: 'The sites lose the tag; which of them had it is not remembered.',
    method: 'POST',
    path: '/tags/{tag_id}/remove',
    body: siteIds,
    bodyRequired: true,
    success: 200,
    answer: part({ remove: assigned, meta: BatchMeta }, 'remove'),
    errors: [400, 401, 403, 404, 422, 429],
    effect: 'repeatable',
  }),
} as const;
