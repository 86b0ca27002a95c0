/**
 * Custom work entries of a site (spec 4.16). Only the service checks that the day is not in the future, by
 * its clock.
 */
import { z } from 'zod';
import { date, field, listTimestamp, text } from '../list.ts';
import { operationsOf } from '../operation.ts';
import { day, idSchema, nonBlank, part, timestamp } from '../schema.ts';
import { PageMeta } from './shared.ts';

// Custom work on a site, as client reports show it (spec 2.18).

export const CustomWork = part(
  {
    id: idSchema,
    title: z.string(),
    description: z.string(),
    performed_on: day,
    created_at: timestamp,
    updated_at: timestamp,
  },
  'id',
);
export type CustomWork = z.output<typeof CustomWork>;

const customWork = part({ custom_work: CustomWork }, 'custom_work');
const title = nonBlank.max(150);
const description = z.optional(z.string().max(500));

const operation = operationsOf('4.16');

export const customWorkOperations = {
  listSiteCustomWorks: operation({
    summary: 'Lists the custom work entries of a site.',
    method: 'GET',
    path: '/sites/{site_id}/custom-works',
    answer: part({ custom_works: z.array(CustomWork), meta: PageMeta }, 'custom_works'),
    list: {
      key: 'custom_works',
      filters: {
        search: text('contains'),
        title: text('contains'),
        description: text('contains'),
        performed_on: date('eq', 'gte', 'lte'),
        created_at: field('created_at', listTimestamp('gte', 'lte')),
        updated_at: field('updated_at', listTimestamp('gte', 'lte')),
      },
      sorts: ['performed_on', 'created_at', 'updated_at', 'title', 'description'],
      defaultSort: 'performed_on,desc',
      timezone: true,
      paged: true,
    },
  }),
  createSiteCustomWorks: operation({
    summary: 'Creates custom work entries of a site.',
    method: 'POST',
    path: '/sites/{site_id}/custom-works',
    body: z.strictObject({
      custom_works: z.array(z.strictObject({ title, performed_on: day, description })).min(1),
    }),
    bodyRequired: true,
    success: 201,
    answer: part({ custom_works: z.array(CustomWork) }, 'custom_works'),
    errors: [422],
    effect: 'once',
  }),
  showSiteCustomWork: operation({
    summary: 'Shows a custom work entry.',
    method: 'GET',
    path: '/sites/{site_id}/custom-works/{custom_work_id}',
    answer: customWork,
  }),
  deleteSiteCustomWork: operation({
    summary: 'Deletes a custom work entry.',
    destructive: 'The entry is lost, also for reports to the client.',
    method: 'DELETE',
    path: '/sites/{site_id}/custom-works/{custom_work_id}',
    effect: 'repeatable',
  }),
  updateSiteCustomWork: operation({
    summary: 'Changes a custom work entry; omitted fields stay.',
    method: 'POST',
    path: '/sites/{site_id}/custom-works/{custom_work_id}/update',
    body: z.strictObject({
      custom_work: z
        .strictObject({ title: z.optional(title), description, performed_on: z.optional(day) })
        .refine((fields) => Object.keys(fields).length > 0, {
          message: 'must hold at least one field',
          params: { form: true },
        })
        .meta({ minProperties: 1 }),
    }),
    bodyRequired: true,
    answer: customWork,
    errors: [422],
    effect: 'repeatable',
  }),
} as const;
