/** The views of auto update schedules and of the history of their runs (spec 2.8, 2.9). */
import type { AutoUpdateHistoryEntry } from '../../contract/resources/auto-update-history.ts';
import type { AutoUpdateSchedule } from '../../contract/resources/auto-update-schedule.ts';
import type { SiteUpdates, UpdateRun, UpdateSchedule } from '../model/tasks.ts';
import type { World } from '../model/world.ts';
import { shown } from './account.ts';

export const scheduleView = (schedule: UpdateSchedule): AutoUpdateSchedule => ({
  id: schedule.id,
  name: schedule.name,
  status: schedule.status,
  schedule: schedule.schedule,
  started_at: shown(schedule.startedAt),
  next_update_at: shown(schedule.nextAt),
  scope: {
    sites:
      schedule.siteIds === null
        ? { selection: 'all' }
        : { selection: 'specific', ids: [...schedule.siteIds] },
    updates: {
      wordpress_core: schedule.core,
      plugins: schedule.plugins && { ...schedule.plugins },
      themes: schedule.themes && { ...schedule.themes },
    },
  },
  options: { backup: schedule.backup, visual_regression: schedule.visualRegression },
  created_at: shown(schedule.createdAt),
  updated_at: shown(schedule.updatedAt),
});

/** The status of a run is that of its task. A run without a task had nothing to update. */
export const runStatus = (world: World, { taskId }: UpdateRun): string =>
  taskId === null ? 'no_updates' : (world.tasks.get(taskId)?.status ?? 'cancelled');

/** Sites that were deleted since are omitted. */
export const historyView = (world: World, run: UpdateRun): AutoUpdateHistoryEntry => ({
  auto_update_schedule: { id: run.scheduleId, name: run.scheduleName },
  performed_on: shown(run.performedOn),
  task_id: run.taskId,
  status: runStatus(world, run),
  sites: run.sites.filter(({ id }) => world.sites.has(id)).map(siteView),
});

const siteView = ({ id, core, plugins, themes }: SiteUpdates) => ({ id, wp: { core, plugins, themes } });
