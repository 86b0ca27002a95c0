/** Background tasks of the service: listing, showing and cancelling them (spec 4.8). */
import { z } from 'zod';
import { field, listTimestamp, oneOf } from '../list.ts';
import { operationsOf } from '../operation.ts';
import { idSchema, int, known, part, timestamp } from '../schema.ts';
import { PageMeta, TaskStatus, taskStatuses } from './shared.ts';

// The service's background tasks (spec 2.10). Lists have `Task`; the single view adds the progress of each
// site.

/** The types of background work that a filter accepts. */
export const taskTypes = [
  'wp_site_update',
  'staging',
  'test_restore',
  'wp_plugin_activate',
  'wp_plugin_deactivate',
  'wp_plugin_delete',
  'wp_plugin_install',
  'wp_theme_activate',
  'wp_theme_delete',
  'wp_theme_install',
  'wp_user_password_change',
  'wp_user_role_change',
  'wp_user_delete',
  'wp_user_create',
  'wp_theme_upload',
  'wp_plugin_upload',
  'wp_core_db_upgrade',
  'wp_plugin_db_upgrade',
  'restore',
  'download',
  'upload',
  'migrate',
  'report',
  'hackcleanup',
  'settingop',
  'speed',
  'download_staging',
  'configure_staging_site',
] as const;

const PluginUpdate = part({
  name: z.string(),
  current_version: z.string(),
  target_version: z.string(),
  slug: z.string(),
  filename: z.string(),
});

// All optional: the fields depend on the task's type, and for most types they are not specified.
const InputSite = part({
  id: z.optional(idSchema),
  options: z.optional(part({ backup: z.boolean(), visual_regression: z.boolean(), sandbox: z.boolean() })),
  plugins: z.optional(z.array(PluginUpdate)),
  site_url: z.optional(z.string()),
  user_configuration: z.optional(
    part({ site_name: z.string(), php_version: z.string(), category: z.string() }),
  ),
  snapshot_id: z.optional(idSchema),
  snapshot_timestamp: z.optional(timestamp),
});

const shape = {
  id: idSchema,
  status: TaskStatus,
  type: known(...taskTypes),
  created_at: timestamp,
  updated_at: timestamp,
  progress: part({ percent: int, metrics: part({ sites: part({ done: int, total: int }) }) }),
  input: part({ sites: z.array(InputSite) }),
};

/** A task in lists. */
export const Task = part(shape, 'id', 'status');
export type Task = z.output<typeof Task>;

const Progress = part({ percent: int });
// Not specified: the full set of step types, and the shapes of details and error.
const Step = part({
  type: z.string(),
  status: TaskStatus,
  details: z.optional(z.unknown()),
  progress: Progress,
  error: z.record(z.string(), z.unknown()),
});

/** The single view of a task, by site and step. */
export const TaskDetails = part(
  {
    ...shape,
    details: part({
      sites: z.array(
        part({ id: idSchema, status: TaskStatus, progress: Progress, steps: z.array(Step) }, 'id'),
      ),
    }),
  },
  'id',
  'status',
);
export type TaskDetails = z.output<typeof TaskDetails>;

const task = part({ task: TaskDetails }, 'task');

const operation = operationsOf('4.8');

export const taskOperations = {
  listTasks: operation({
    summary: 'Lists background tasks.',
    method: 'GET',
    path: '/tasks',
    answer: part({ tasks: z.array(Task), meta: PageMeta }, 'tasks'),
    list: {
      key: 'tasks',
      filters: {
        status: field('status', oneOf(taskStatuses, 'eq')),
        type: field('type', oneOf(taskTypes, 'eq')),
        created_at: field('created_at', listTimestamp('gte', 'lte')),
        updated_at: field('updated_at', listTimestamp('gte', 'lte')),
      },
      sorts: ['created_at', 'updated_at', 'status'],
      defaultSort: 'created_at,desc',
      timezone: true,
      paged: true,
    },
  }),
  showTask: operation({
    summary: 'Shows a background task, site by site and step by step.',
    method: 'GET',
    path: '/tasks/{task_id}',
    answer: task,
  }),
  cancelTask: operation({
    summary: 'Cancels a background task that has not ended.',
    destructive: 'The work that the task stands for is given up; a half-done update stays half done.',
    method: 'POST',
    path: '/tasks/{task_id}/cancel',
    answer: task,
    errors: [422],
    effect: 'repeatable',
    leadsTo: { status: 'cancelled' },
  }),
} as const;
