/**
 * The service's background tasks (spec 2.10). Lists show `Task`; the single view adds what each site is
 * doing.
 */
import { z } from 'zod';
import { id, int, known, part, timestamp } from '../schema.ts';
import { TaskStatus } from './shared.ts';

/** The kinds of background work, as a filter takes them. */
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

// All optional: which fields are there depends on the task's type, and for most types it is not shown.
const InputSite = part({
  id: z.optional(id),
  options: z.optional(part({ backup: z.boolean(), visual_regression: z.boolean(), sandbox: z.boolean() })),
  plugins: z.optional(z.array(PluginUpdate)),
  site_url: z.optional(z.string()),
  user_configuration: z.optional(
    part({ site_name: z.string(), php_version: z.string(), category: z.string() }),
  ),
  snapshot_id: z.optional(id),
  snapshot_timestamp: z.optional(timestamp),
});

const shape = {
  id,
  status: TaskStatus,
  type: known(...taskTypes),
  created_at: timestamp,
  updated_at: timestamp,
  progress: part({ percent: int, metrics: part({ sites: part({ done: int, total: int }) }) }),
  input: part({ sites: z.array(InputSite) }),
};

/** A task as lists show it. */
export const Task = part(shape, 'id', 'status');
export type Task = z.output<typeof Task>;

const Progress = part({ percent: int });
// The full set of step types, and the shapes of details and error: not shown.
const Step = part({
  type: z.string(),
  status: TaskStatus,
  details: z.optional(z.unknown()),
  progress: Progress,
  error: z.record(z.string(), z.unknown()),
});

/** A task as it is shown alone, site by site and step by step. */
export const TaskDetails = part(
  {
    ...shape,
    details: part({
      sites: z.array(part({ id, status: TaskStatus, progress: Progress, steps: z.array(Step) }, 'id')),
    }),
  },
  'id',
  'status',
);
export type TaskDetails = z.output<typeof TaskDetails>;
