/** The runs of auto update schedules: which sites get which updates, the task, and the changes after it. */

import type { Site, Update } from '../model/site.ts';
import type {
  Extensions,
  SiteUpdates,
  TaskInput,
  TroubledEnd,
  UpdateRun,
  UpdateSchedule,
} from '../model/tasks.ts';
import type { World } from '../model/world.ts';
import { HOUR, MINUTE } from './service-time.ts';
import { install, updatesOf } from './software.ts';
import { isUnderMaintenance } from './syncs.ts';
import { sitesProgress } from './task-progress.ts';
import { startTask } from './tasks.ts';
import { planNext, sitesOf } from './updates.ts';

/** The duration of the updates of one site, and the maximum for all. */
const TAKES_AT_A_SITE_MS = 2 * MINUTE;
const TAKES_AT_MOST_MS = 3 * HOUR;

/** Runs a schedule that is due. Does nothing if it was paused, moved or deleted meanwhile. */
export function runUpdates(world: World, scheduleId: string, at: number): void {
  const schedule = world.updates.schedules.get(scheduleId);
  if (schedule?.status !== 'active' || schedule.nextAt !== at) return;
  startUpdateRun(world, schedule, at);
  planNext(world, schedule, at);
}

/** Starts the updates of a schedule, whether they are due or not; returns the id of their task. */
export function startUpdateRun(
  world: World,
  schedule: UpdateSchedule,
  at: number,
  takesMs?: number,
): string | null {
  const sites = sitesOf(world, schedule).flatMap((site) => waitingAt(world, site, schedule, at) ?? []);
  const usual = Math.min(TAKES_AT_MOST_MS, sites.length * TAKES_AT_A_SITE_MS);
  const taskId = sites.length === 0 ? null : startUpdates(world, schedule, sites, at, takesMs ?? usual);
  world.updates.runs.push({
    scheduleId: schedule.id,
    scheduleName: schedule.name,
    performedOn: at,
    taskId,
    sites,
  });
  return taskId;
}

/** After the task: successful sites get the new versions. */
export function applyUpdates(world: World, taskId: string, at: number): void {
  const task = world.tasks.get(taskId);
  const run = world.updates.runs.findLast((one) => one.taskId === taskId);
  if (!task || !run) return;
  for (const { id, status } of sitesProgress(task, at)) {
    const site = world.sites.get(id);
    const updates = run.sites.find((one) => one.id === id);
    if (status === 'completed' && site && updates) applyAt(world, site, updates, run, at);
  }
}

function applyAt(world: World, site: Site, updates: SiteUpdates, run: UpdateRun, at: number): void {
  const filenames = [...updates.plugins, ...updates.themes].map(({ filename }) => filename);
  install(world, site, filenames, run.performedOn);
  if (updates.core) site.core.current = updates.core.target_version;
  site.updatedAt = at;
}

/**
 * The available updates of a site within the schedule's scope; undefined when the site cannot be reached or
 * has none.
 */
function waitingAt(world: World, site: Site, schedule: UpdateSchedule, at: number): SiteUpdates | undefined {
  if (!site.connected || site.locked) return undefined;
  const { current, latest, locked } = site.core;
  const updatesCore = schedule.core && !locked && current !== latest;
  const core = updatesCore ? { current_version: current, target_version: latest } : null;
  const plugins = within(schedule.plugins, () => updatesOf(world, site, 'plugin', at));
  const themes = within(schedule.themes, () => updatesOf(world, site, 'theme', at));
  return core || plugins.length + themes.length > 0 ? { id: site.id, core, plugins, themes } : undefined;
}

function within(extensions: Extensions | null, updates: () => Update[]): Update[] {
  if (extensions === null) return [];
  const { selection, filenames } = extensions;
  return updates().filter(({ filename }) => selection === 'all' || filenames.includes(filename));
}

function startUpdates(
  world: World,
  schedule: UpdateSchedule,
  sites: readonly SiteUpdates[],
  at: number,
  takesMs: number,
): string {
  const { backup, visualRegression } = schedule;
  const options = { backup, visual_regression: visualRegression, sandbox: false };
  const input: TaskInput[] = sites.map(({ id, plugins }) => ({ id, options, plugins }));
  const troubled = troubleAt(world, sites, at);
  const task = startTask(
    world,
    {
      type: 'wp_site_update',
      input,
      takesMs,
      ends: worst(Object.values(troubled)),
      steps: stepsFor(schedule),
      troubled,
    },
    at,
  );
  world.agenda.add(task.endsAt, { does: 'apply-updates', task: task.id });
  return task.id;
}

/** A site whose syncs fail cannot be updated either. The updates of a site under maintenance are aborted. */
function troubleAt(world: World, sites: readonly SiteUpdates[], at: number): Record<string, TroubledEnd> {
  return Object.fromEntries(
    sites.flatMap(({ id }): [string, TroubledEnd][] => {
      const site = world.sites.get(id);
      if (!site) return [];
      if (site.sync.failsWith !== null || site.sync.nextFailsWith !== null) return [[id, 'failed']];
      return isUnderMaintenance(site, at) ? [[id, 'aborted']] : [];
    }),
  );
}

const worst = (ends: readonly TroubledEnd[]) =>
  ends.includes('failed') ? 'failed' : ends.includes('aborted') ? 'aborted' : 'completed';

const stepsFor = ({ core, plugins, themes, backup, visualRegression }: UpdateSchedule): string[] => [
  ...(backup ? ['backup'] : []),
  ...(core ? ['update_core'] : []),
  ...(plugins ? ['update_plugin'] : []),
  ...(themes ? ['update_theme'] : []),
  visualRegression ? 'compare_screenshots' : 'check',
];
