/** The service's own update schedules, and the history of their runs (spec 4.7). */
import { z } from 'zod';
import { field, flag, ids, listTimestamp, oneOf, text } from '../list.ts';
import { operation } from '../operation.ts';
import { AutoUpdateHistoryEntry, historyStatuses } from '../resources/auto-update-history.ts';
import { AutoUpdateSchedule, recurrences } from '../resources/auto-update-schedule.ts';
import { PageMeta } from '../resources/shared.ts';
import { idOf, nonBlank, part, requiredWhen, sentTimestamp } from '../schema.ts';

const schedule = part({ auto_update_schedule: AutoUpdateSchedule }, 'auto_update_schedule');

const Selection = z.enum(['all', 'specific']);
const Extensions = z.strictObject({ selection: Selection, filenames: z.optional(z.array(z.string())) });
const fields = {
  name: nonBlank,
  schedule: z.enum(recurrences),
  started_at: sentTimestamp,
  scope: z.strictObject({
    sites: z.optional(
      z
        .strictObject({ selection: Selection, ids: z.optional(z.array(idOf('site'))) })
        .refine((sites) => sites.selection !== 'specific' || sites.ids !== undefined, {
          message: 'is required when selection is specific',
          path: ['ids'],
          params: { form: true },
        })
        .meta(requiredWhen({ selection: 'specific' }, 'ids')),
    ),
    // In a request, these replace all previous categories.
    updates: z.optional(
      z.strictObject({
        wordpress_core: z.optional(z.boolean()),
        plugins: z.optional(z.nullable(Extensions)),
        themes: z.optional(z.nullable(Extensions)),
      }),
    ),
  }),
  options: z.optional(
    z.strictObject({ backup: z.optional(z.boolean()), visual_regression: z.optional(z.boolean()) }),
  ),
};

export const autoUpdateOperations = {
  listAutoUpdateSchedules: operation({
    section: '4.7',
    summary: 'Lists auto update schedules.',
    method: 'GET',
    path: '/auto-update-schedules',
    success: 200,
    answer: part(
      { auto_update_schedules: z.array(AutoUpdateSchedule), meta: PageMeta },
      'auto_update_schedules',
    ),
    errors: [400, 401, 403, 429],
    list: {
      key: 'auto_update_schedules',
      filters: {
        name: text('contains'),
        status: field('status', oneOf(['active', 'paused'], 'eq', 'in')),
        schedule: field('schedule', oneOf(recurrences, 'eq', 'in')),
        has_backup: field('options.backup', flag('eq')),
        has_vr: field('options.visual_regression', flag('eq')),
        update_types: oneOf(['plugin', 'theme', 'core'], 'in'),
        site_id: ids('site', 'in'),
        started_at: field('started_at', listTimestamp('gte', 'lte')),
        next_update_at: field('next_update_at', listTimestamp('gte', 'lte')),
        created_at: field('created_at', listTimestamp('gte', 'lte')),
        updated_at: field('updated_at', listTimestamp('gte', 'lte')),
      },
      sorts: ['created_at', 'updated_at', 'name', 'status', 'schedule', 'started_at', 'next_update_at'],
      defaultSort: 'created_at,desc',
      timezone: true,
      paged: true,
    },
  }),
  createAutoUpdateSchedule: operation({
    section: '4.7',
    summary: 'Creates an auto update schedule, which is active.',
    method: 'POST',
    path: '/auto-update-schedules',
    body: z.strictObject({ auto_update_schedule: z.strictObject(fields) }),
    bodyRequired: true,
    success: 201,
    answer: schedule,
    errors: [400, 401, 403, 422, 429],
    effect: 'once',
  }),
  showAutoUpdateSchedule: operation({
    section: '4.7',
    summary: 'Shows an auto update schedule.',
    method: 'GET',
    path: '/auto-update-schedules/{auto_update_schedule_id}',
    success: 200,
    answer: schedule,
    errors: [401, 403, 404, 429],
  }),
  deleteAutoUpdateSchedule: operation({
    section: '4.7',
    summary: 'Deletes an auto update schedule.',
    destructive: 'The sites are no longer updated by it, and its settings are lost.',
    method: 'DELETE',
    path: '/auto-update-schedules/{auto_update_schedule_id}',
    success: 204,
    errors: [401, 403, 404, 422, 429],
    effect: 'repeatable',
  }),
  updateAutoUpdateSchedule: operation({
    section: '4.7',
    summary: 'Changes an auto update schedule; omitted fields stay.',
    method: 'POST',
    path: '/auto-update-schedules/{auto_update_schedule_id}/update',
    body: z.strictObject({ auto_update_schedule: z.strictObject(fields).partial() }),
    bodyRequired: true,
    success: 200,
    answer: schedule,
    errors: [400, 401, 403, 404, 422, 429],
    effect: 'repeatable',
  }),
  enableAutoUpdateSchedule: operation({
    section: '4.7',
    summary: 'Resumes a paused auto update schedule.',
    method: 'POST',
    path: '/auto-update-schedules/{auto_update_schedule_id}/enable',
    success: 200,
    answer: schedule,
    errors: [401, 403, 404, 422, 429],
    effect: 'repeatable',
    leadsTo: { status: 'active' },
  }),
  disableAutoUpdateSchedule: operation({
    section: '4.7',
    summary: 'Pauses an auto update schedule.',
    destructive: 'The sites are no longer updated until it is enabled again.',
    method: 'POST',
    path: '/auto-update-schedules/{auto_update_schedule_id}/disable',
    success: 200,
    answer: schedule,
    errors: [401, 403, 404, 422, 429],
    effect: 'repeatable',
    leadsTo: { status: 'paused' },
  }),
  listAutoUpdateHistory: operation({
    section: '4.7',
    summary: 'Lists the runs of auto update schedules and their updates.',
    method: 'GET',
    path: '/auto-update-history',
    success: 200,
    answer: part(
      { auto_update_history: z.array(AutoUpdateHistoryEntry), meta: PageMeta },
      'auto_update_history',
    ),
    errors: [400, 401, 403, 429],
    list: {
      key: 'auto_update_history',
      filters: {
        auto_update_schedule_id: field('auto_update_schedule.id', ids('schedule', 'eq', 'in')),
        status: field('status', oneOf(historyStatuses, 'eq', 'in')),
        auto_update_schedule_name: text('contains'),
        performed_on: field('performed_on', listTimestamp('gte', 'lte')),
      },
      sorts: ['performed_on', 'auto_update_schedule_name'],
      defaultSort: 'performed_on,desc',
      timezone: false,
      paged: true,
    },
  }),
} as const;
