/** Tags and their assignment to sites (spec 4.13). */
import { z } from 'zod';
import { field, ids, listTimestamp, text } from '../list.ts';
import { operationsOf } from '../operation.ts';
import { idOf, idSchema, part, timestamp } from '../schema.ts';
import { BatchMeta, ItemRefusal, PageMeta } from './shared.ts';

// Tags (spec 2.15).

export const Tag = part(
  {
    id: idSchema,
    name: z.string(),
    color: z.nullable(z.string()),
    site_ids: z.array(idSchema),
    created_at: timestamp,
    updated_at: timestamp,
  },
  'id',
  'name',
);
export type Tag = z.output<typeof Tag>;

const tag = part({ tag: Tag }, 'tag');
const siteIds = z.strictObject({ site_ids: z.array(idOf('site')) });
const assigned = part({ site_ids: z.array(idSchema), errors: z.array(ItemRefusal) }, 'site_ids', 'errors');

const operation = operationsOf('4.13');

export const tagOperations = {
  listTags: operation({
    summary: 'Lists tags.',
    method: 'GET',
    path: '/tags',
    answer: part({ tags: z.array(Tag), meta: PageMeta }, 'tags'),
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
    summary: 'Creates a tag.',
    method: 'POST',
    path: '/tags',
    body: z.strictObject({ tag: z.strictObject({ name: z.string(), color: z.optional(z.string()) }) }),
    bodyRequired: true,
    success: 201,
    answer: tag,
    errors: [422],
    effect: 'once',
  }),
  showTag: operation({
    summary: 'Shows a tag.',
    method: 'GET',
    path: '/tags/{tag_id}',
    answer: tag,
  }),
  deleteTag: operation({
    summary: 'Deletes a tag and clears its assignments.',
    destructive: 'The tag is removed from every site that has it.',
    method: 'DELETE',
    path: '/tags/{tag_id}',
    errors: [422],
    effect: 'repeatable',
  }),
  updateTag: operation({
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
    answer: tag,
    errors: [422],
    effect: 'repeatable',
  }),
  assignTag: operation({
    summary: 'Assigns a tag to sites.',
    method: 'POST',
    path: '/tags/{tag_id}/assign',
    body: siteIds,
    bodyRequired: true,
    answer: part({ assign: assigned, meta: BatchMeta }, 'assign'),
    errors: [422],
    effect: 'repeatable',
  }),
  removeTag: operation({
    summary: 'Removes a tag from sites.',
    destructive: 'The sites lose the tag; which of them had it is not remembered.',
    method: 'POST',
    path: '/tags/{tag_id}/remove',
    body: siteIds,
    bodyRequired: true,
    answer: part({ remove: assigned, meta: BatchMeta }, 'remove'),
    errors: [422],
    effect: 'repeatable',
  }),
} as const;
