/** Auto update schedules and the history of their runs (spec 4.7). */
import type { z } from 'zod';
import type { AutoUpdateHistoryEntry, AutoUpdateSchedule } from '../../contract/operations/auto-updates.ts';
import type { Operations } from '../../contract/operations.ts';
import type { Extensions, ScheduleFields, SiteUpdates, UpdateRun, UpdateSchedule } from '../model/tasks.ts';
import type { World } from '../model/world.ts';
import { cannot } from '../refusal.ts';
import { addSchedule, planNext } from '../world/updates.ts';
import { type Ask, type Handler, itemIn, lists, requireFeature, shown } from './handler.ts';

// The views of auto update schedules and of the history of their runs (spec 2.8, 2.9).

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

const scheduleOf = (world: World, id: string): UpdateSchedule =>
  itemIn(world.updates.schedules, 'auto update schedule', id);

/** A schedule for all sites matches the id of each site. */
type Listed = UpdateSchedule & { allSiteIds: readonly string[] };

export const listAutoUpdateSchedules = lists<'listAutoUpdateSchedules', Listed>({
  items: ({ world }) => {
    const allSiteIds = [...world.sites.keys()];
    return [...world.updates.schedules.values()].map((schedule) => ({ ...schedule, allSiteIds }));
  },
  fields: {
    name: (schedule) => schedule.name,
    status: (schedule) => schedule.status,
    schedule: (schedule) => schedule.schedule,
    has_backup: (schedule) => schedule.backup,
    has_vr: (schedule) => schedule.visualRegression,
    update_types: ({ core, plugins, themes }) => [
      ...(core ? ['core'] : []),
      ...(plugins ? ['plugin'] : []),
      ...(themes ? ['theme'] : []),
    ],
    site_id: ({ siteIds, allSiteIds }) => siteIds ?? allSiteIds,
    started_at: (schedule) => schedule.startedAt,
    next_update_at: (schedule) => schedule.nextAt,
    created_at: (schedule) => schedule.createdAt,
    updated_at: (schedule) => schedule.updatedAt,
  },
  view: scheduleView,
});

export const showAutoUpdateSchedule: Handler<'showAutoUpdateSchedule'> = ({ world, params }) => ({
  auto_update_schedule: scheduleView(scheduleOf(world, params.auto_update_schedule_id)),
});

export const createAutoUpdateSchedule: Handler<'createAutoUpdateSchedule'> = (ask) => {
  const { world, now, body, changed } = ask;
  const fields = requireFields(world, blank, body.auto_update_schedule);
  const schedule = addSchedule(world, fields, now);
  changed(schedule.id);
  return { auto_update_schedule: scheduleView(schedule) };
};

export const updateAutoUpdateSchedule: Handler<'updateAutoUpdateSchedule'> = (ask) => {
  const { world, now, params, body, changed } = ask;
  const schedule = scheduleOf(world, params.auto_update_schedule_id);
  const fields = requireFields(world, schedule, body.auto_update_schedule);
  const before = JSON.stringify(schedule);
  const isMoved = fields.schedule !== schedule.schedule || fields.startedAt !== schedule.startedAt;
  Object.assign(schedule, fields);
  if (before !== JSON.stringify(schedule)) {
    if (isMoved) planNext(world, schedule, now);
    schedule.updatedAt = now;
    changed(schedule.id);
  }
  return { auto_update_schedule: scheduleView(schedule) };
};

export const deleteAutoUpdateSchedule: Handler<'deleteAutoUpdateSchedule'> = ({ world, params, changed }) => {
  const schedule = scheduleOf(world, params.auto_update_schedule_id);
  world.updates.schedules.delete(schedule.id);
  changed(schedule.id);
};

export const enableAutoUpdateSchedule: Handler<'enableAutoUpdateSchedule'> = (ask) => {
  const schedule = setStatus(ask, 'active');
  planNext(ask.world, schedule, ask.now);
  return { auto_update_schedule: scheduleView(schedule) };
};

export const disableAutoUpdateSchedule: Handler<'disableAutoUpdateSchedule'> = (ask) => ({
  auto_update_schedule: scheduleView(setStatus(ask, 'paused')),
});

function setStatus(
  { world, now, params, changed }: Ask<'enableAutoUpdateSchedule' | 'disableAutoUpdateSchedule'>,
  status: UpdateSchedule['status'],
): UpdateSchedule {
  const schedule = scheduleOf(world, params.auto_update_schedule_id);
  if (schedule.status === status) throw cannot(`already_${status}`, `The schedule is ${status} already.`);
  Object.assign(schedule, { status, updatedAt: now });
  changed(schedule.id);
  return schedule;
}

/** A run as the history lists it, with the status of its task. */
type ListedRun = UpdateRun & { status: string };

export const listAutoUpdateHistory = lists<'listAutoUpdateHistory', ListedRun>({
  items: ({ world }) => world.updates.runs.map((run) => ({ ...run, status: runStatus(world, run) })),
  fields: {
    auto_update_schedule_id: (run) => run.scheduleId,
    auto_update_schedule_name: (run) => run.scheduleName,
    status: (run) => run.status,
    performed_on: (run) => run.performedOn,
  },
  view: (run, { world }) => historyView(world, run),
});

type Sent = z.output<Operations['updateAutoUpdateSchedule']['body']>['auto_update_schedule'];

/** The defaults of a schedule: for all sites, and nothing to update. */
const blank: ScheduleFields = {
  name: '',
  schedule: 'daily',
  startedAt: 0,
  siteIds: null,
  core: false,
  plugins: null,
  themes: null,
  backup: false,
  visualRegression: false,
};

/** Merges the request into the fields. Update categories in the request replace all previous ones. */
function requireFields(world: World, before: ScheduleFields, sent: Sent): ScheduleFields {
  const { scope, options } = sent;
  const updates = scope?.updates;
  const fields: ScheduleFields = {
    name: sent.name ?? before.name,
    schedule: sent.schedule ?? before.schedule,
    startedAt: sent.started_at === undefined ? before.startedAt : Date.parse(sent.started_at),
    siteIds: scope?.sites ? selectedSites(world, scope.sites) : before.siteIds,
    core: updates ? (updates.wordpress_core ?? false) : before.core,
    plugins: updates ? selected(updates.plugins) : before.plugins,
    themes: updates ? selected(updates.themes) : before.themes,
    backup: options?.backup ?? before.backup,
    visualRegression: options?.visual_regression ?? before.visualRegression,
  };
  if (!fields.core && !fields.plugins && !fields.themes) {
    throw cannot('nothing_to_update', 'A schedule updates the core, plugins or themes.');
  }
  if (fields.backup && !before.backup) requireFeature(world, 'update_backup');
  if (fields.visualRegression && !before.visualRegression) requireFeature(world, 'visual_regression');
  return fields;
}

function selectedSites(
  world: World,
  { selection, ids = [] }: { selection: 'all' | 'specific'; ids?: string[] | undefined },
): string[] | null {
  if (selection === 'all') return null;
  if (ids.length === 0) throw cannot('no_sites', 'A schedule for specific sites needs at least one.');
  for (const id of ids) {
    if (!world.sites.has(id)) throw cannot('site_not_found', `There is no site "${id}".`);
  }
  return [...new Set(ids)];
}

/** Filenames count only for a specific selection. */
function selected(
  sent: { selection: 'all' | 'specific'; filenames?: string[] | undefined } | null | undefined,
): Extensions | null {
  if (!sent) return null;
  const { selection, filenames = [] } = sent;
  if (selection === 'all') return { selection, filenames: [] };
  if (filenames.length === 0)
    throw cannot('no_filenames', 'A specific selection needs at least one filename.');
  return { selection, filenames: [...new Set(filenames)] };
}
