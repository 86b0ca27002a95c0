/** Auto update schedules and what their runs did (spec 2.8, 2.9). */
import { nextOccurrence, type Recurrence } from './recurrence.ts';
import type { Site } from './site.ts';
import type { Update } from './software.ts';
import { idOf, nextNumber, type World } from './world.ts';

export interface Extensions {
  selection: 'all' | 'specific';
  /** Empty for all. */
  filenames: string[];
}

/** What a caller may decide about a schedule. */
export interface ScheduleFields {
  name: string;
  schedule: Recurrence;
  startedAt: number;
  /** Null: all sites of the account, whichever there are when it runs. */
  siteIds: string[] | null;
  core: boolean;
  /** Null: left alone. */
  plugins: Extensions | null;
  themes: Extensions | null;
  backup: boolean;
  visualRegression: boolean;
}

export interface UpdateSchedule extends ScheduleFields {
  readonly id: string;
  status: 'active' | 'paused';
  nextAt: number;
  readonly createdAt: number;
  updatedAt: number;
}

/** What a run updates at one site, in the shape the API shows. */
export interface SiteUpdates {
  id: string;
  core: { current_version: string; target_version: string } | null;
  plugins: Update[];
  themes: Update[];
}

export interface UpdateRun {
  readonly scheduleId: string;
  /** As it was then. */
  readonly scheduleName: string;
  readonly performedOn: number;
  /** Null when there was nothing to update. */
  readonly taskId: string | null;
  readonly sites: readonly SiteUpdates[];
}

export interface Updates {
  readonly schedules: Map<string, UpdateSchedule>;
  /** Oldest first. */
  readonly runs: UpdateRun[];
  /** The release that a site has of a product, where it has been updated since the start. */
  readonly installed: Map<string, number>;
}

/** No schedules, and nothing updated. */
export const newUpdates = (): Updates => ({ schedules: new Map(), runs: [], installed: new Map() });

/** Adds a schedule, active at once. One that was started in the past goes on from there. */
export function addSchedule(world: World, fields: ScheduleFields, now: number): UpdateSchedule {
  const schedule: UpdateSchedule = {
    ...fields,
    id: idOf('schedule', nextNumber(world, 'schedule')),
    status: 'active',
    nextAt: 0,
    createdAt: now,
    updatedAt: now,
  };
  world.updates.schedules.set(schedule.id, schedule);
  planNext(world, schedule, now);
  return schedule;
}

/** Works out anew when the schedule is due. What was planned before no longer counts, because its moment differs. */
export function planNext(world: World, schedule: UpdateSchedule, after: number): void {
  schedule.nextAt = nextOccurrence(schedule.schedule, schedule.startedAt, after);
  world.agenda.add(schedule.nextAt, { does: 'run-updates', schedule: schedule.id });
}

/** The sites that a schedule is for and that are still there. */
export function sitesOf(world: World, { siteIds }: UpdateSchedule): Site[] {
  if (siteIds === null) return [...world.sites.values()];
  return siteIds.flatMap((id) => world.sites.get(id) ?? []);
}
