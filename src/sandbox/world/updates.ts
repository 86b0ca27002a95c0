/** Auto update schedules and what their runs did (spec 2.8, 2.9). */

import type { Site } from '../model/site.ts';
import type { ScheduleFields, UpdateSchedule, Updates } from '../model/updates.ts';
import type { World } from '../model/world.ts';
import { idOf, nextNumber } from './ids.ts';
import { nextOccurrence } from './recurrence.ts';

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

/**
 * Works out again when the schedule is due. What was planned before no longer counts, because its moment
 * differs.
 */
export function planNext(world: World, schedule: UpdateSchedule, after: number): void {
  schedule.nextAt = nextOccurrence(schedule.schedule, schedule.startedAt, after);
  world.agenda.add(schedule.nextAt, { does: 'run-updates', schedule: schedule.id });
}

/** The sites that a schedule is for and that are still there. */
export function sitesOf(world: World, { siteIds }: UpdateSchedule): Site[] {
  if (siteIds === null) return [...world.sites.values()];
  return siteIds.flatMap((id) => world.sites.get(id) ?? []);
}
