import type { Site } from '../model/site.ts';
import type { ScheduleFields, UpdateSchedule, Updates } from '../model/tasks.ts';
import type { World } from '../model/world.ts';
import { idOf, nextNumber } from './ids.ts';
import { nextOccurrence } from './recurrence.ts';

/** An account without schedules and updates. */
export const newUpdates = (): Updates => ({ schedules: new Map(), runs: [], installed: new Map() });

/** Adds a schedule, which is active. One that started in the past continues from there. */
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
 * Recalculates when the schedule is due. Earlier agenda entries no longer count, because their time differs.
 */
export function planNext(world: World, schedule: UpdateSchedule, after: number): void {
  schedule.nextAt = nextOccurrence(schedule.schedule, schedule.startedAt, after);
  world.agenda.add(schedule.nextAt, { does: 'run-updates', schedule: schedule.id });
}

/** The existing sites of a schedule. */
export function sitesOf(world: World, { siteIds }: UpdateSchedule): Site[] {
  if (siteIds === null) return [...world.sites.values()];
  return siteIds.flatMap((id) => world.sites.get(id) ?? []);
}
