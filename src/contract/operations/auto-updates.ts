/** The service's own update schedules, and the history of their runs (spec 4.7). */
import { z } from 'zod';
import { field, flag, ids, listTimestamp, oneOf, text } from '../list.ts';
import { operationsOf } from '../operation.ts';
import { idOf, idSchema, known, nonBlank, part, requiredWhen, sentTimestamp, timestamp } from '../schema.ts';
import { PageMeta, taskStatuses } from './shared.ts';

// The history of the runs of auto update schedules (spec 2.9). Entries have no id of their own.

/** The status of a run; `no_updates` has no task. */
export const historyStatuses = [...taskStatuses, 'no_updates'] as const;

const Versions = { current_version: z.string(), target_version: z.string() };
const Extension = part({ name: z.string(), slug: z.string(), filename: z.string(), ...Versions });

export const AutoUpdateHistoryEntry = part(
  {
    auto_update_schedule: part({ id: idSchema, name: z.string() }, 'id'),
    performed_on: timestamp,
    task_id: z.nullable(idSchema),
    status: known(...historyStatuses),
    // Only sites available to the caller. Not specified: the value of `core` in a run that does not update
    // the core.
    sites: z.array(
      part(
        {
          id: idSchema,
          wp: part({
            core: z.optional(z.nullable(part(Versions))),
            plugins: z.array(Extension),
            themes: z.array(Extension),
          }),
        },
        'id',
      ),
    ),
  },
  'status',
);
export type AutoUpdateHistoryEntry = z.output<typeof AutoUpdateHistoryEntry>;

// The service's own recurring updates of core, plugins and themes (spec 2.8).

/** How often a schedule runs. */
export const recurrences = [
  'daily',
  'weekly_on_day',
  'biweekly',
  'monthly_on_date',
  'monthly_on_week',
  'monthly_last_day',
] as const;

const ShownSelection = known('all', 'specific');
// Not specified: whether a category that is not updated is absent, null or empty.
const ShownExtensions = z.optional(
  z.nullable(part({ selection: ShownSelection, filenames: z.array(z.string()) })),
);

export const AutoUpdateSchedule = part(
  {
    id: idSchema,
    name: z.string(),
    status: known('active', 'paused'),
    schedule: known(...recurrences),
    started_at: timestamp,
    next_update_at: timestamp,
    scope: part({
      // `ids` is present when the selection is specific.
      sites: part({ selection: ShownSelection, ids: z.optional(z.array(idSchema)) }),
      updates: part({ wordpress_core: z.boolean(), plugins: ShownExtensions, themes: ShownExtensions }),
    }),
    options: part({ backup: z.boolean(), visual_regression: z.boolean() }),
    created_at: timestamp,
    updated_at: timestamp,
  },
  'id',
);
export type AutoUpdateSchedule = z.output<typeof AutoUpdateSchedule>;

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

const operation = operationsOf('4.7');

export const autoUpdateOperations = {
  listAutoUpdateSchedules: operation({
    summary: 'Lists auto update schedules.',
    method: 'GET',
    path: '/auto-update-schedules',
    answer: part(
      { auto_update_schedules: z.array(AutoUpdateSchedule), meta: PageMeta },
      'auto_update_schedules',
    ),
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
    summary: 'Creates an auto update schedule, which is active.',
    method: 'POST',
    path: '/auto-update-schedules',
    body: z.strictObject({ auto_update_schedule: z.strictObject(fields) }),
    bodyRequired: true,
    success: 201,
    answer: schedule,
    errors: [422],
    effect: 'once',
  }),
  showAutoUpdateSchedule: operation({
    summary: 'Shows an auto update schedule.',
    method: 'GET',
    path: '/auto-update-schedules/{auto_update_schedule_id}',
    answer: schedule,
  }),
  deleteAutoUpdateSchedule: operation({
    summary: 'Deletes an auto update schedule.',
    destructive: 'The sites are no longer updated by it, and its settings are lost.',
    method: 'DELETE',
    path: '/auto-update-schedules/{auto_update_schedule_id}',
    errors: [422],
    effect: 'repeatable',
  }),
  updateAutoUpdateSchedule: operation({
    summary: 'Changes an auto update schedule; omitted fields stay.',
    method: 'POST',
    path: '/auto-update-schedules/{auto_update_schedule_id}/update',
    body: z.strictObject({ auto_update_schedule: z.strictObject(fields).partial() }),
    bodyRequired: true,
    answer: schedule,
    errors: [422],
    effect: 'repeatable',
  }),
  enableAutoUpdateSchedule: operation({
    summary: 'Resumes a paused auto update schedule.',
    method: 'POST',
    path: '/auto-update-schedules/{auto_update_schedule_id}/enable',
    answer: schedule,
    errors: [422],
    effect: 'repeatable',
    leadsTo: { status: 'active' },
  }),
  disableAutoUpdateSchedule: operation({
    summary: 'Pauses an auto update schedule.',
    destructive: 'The sites are no longer updated until it is enabled again.',
    method: 'POST',
    path: '/auto-update-schedules/{auto_update_schedule_id}/disable',
    answer: schedule,
    errors: [422],
    effect: 'repeatable',
    leadsTo: { status: 'paused' },
  }),
  listAutoUpdateHistory: operation({
    summary: 'Lists the runs of auto update schedules and their updates.',
    method: 'GET',
    path: '/auto-update-history',
    answer: part(
      { auto_update_history: z.array(AutoUpdateHistoryEntry), meta: PageMeta },
      'auto_update_history',
    ),
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
