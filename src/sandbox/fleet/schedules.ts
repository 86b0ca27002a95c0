/**
 * The auto update schedules of the fleet. They started in the past, so their histories contain real runs:
 * most succeeded, some had nothing to update, some had sites with problems.
 */

import type { Site } from '../model/site.ts';
import type { ScheduleFields } from '../model/tasks.ts';
import type { World } from '../model/world.ts';
import { DAY, HOUR } from '../world/service-time.ts';
import { addSchedule } from '../world/updates.ts';

const all = { selection: 'all', filenames: [] as string[] } as const;
const neutral = { core: false, plugins: null, themes: null, backup: false, visualRegression: false };

/** Adds the schedules, oldest first. Each has suitable sites of this fleet. */
export function generateSchedules(world: World): void {
  const sites = [...world.sites.values()].slice(0, 400);
  const plain = sites.filter((site) => site.connected && !site.locked && !isInTrouble(site));
  const idsOf = (chosen: readonly Site[]) => chosen.map(({ id }) => id);
  const specs: (ScheduleFields & { agoDays: number; paused?: true })[] = [
    {
      ...neutral,
      agoDays: 100,
      name: 'Weekly core and themes',
      schedule: 'weekly_on_day',
      startedAt: past(world, 70, 3),
      siteIds: idsOf(plain.slice(0, 6)),
      core: true,
      themes: { ...all },
      backup: true,
    },
    {
      ...neutral,
      agoDays: 60,
      name: 'Old hosting',
      schedule: 'biweekly',
      startedAt: past(world, 50, 4),
      siteIds: idsOf([...plain.slice(6, 7), ...sites.filter(isFailing).slice(0, 2)]),
      plugins: { ...all },
      backup: true,
    },
    {
      ...neutral,
      agoDays: 45,
      name: 'Being rebuilt',
      schedule: 'weekly_on_day',
      startedAt: past(world, 25, 5),
      siteIds: idsOf(sites.filter(isBeingRebuilt).slice(0, 2)),
      plugins: { ...all },
      themes: { ...all },
    },
    {
      ...neutral,
      agoDays: 40,
      name: 'Nightly plugins',
      schedule: 'daily',
      startedAt: past(world, 20, 2),
      siteIds: idsOf(plain.slice(0, 4)),
      plugins: { ...all },
      backup: true,
      visualRegression: true,
    },
    {
      ...neutral,
      agoDays: 30,
      name: 'Shops',
      schedule: 'monthly_on_week',
      startedAt: past(world, 29, 1),
      siteIds: idsOf(plain.slice(4, 8)),
      plugins: { selection: 'specific', filenames: ['shop/shop.php'] },
      paused: true,
    },
    {
      ...neutral,
      agoDays: 3,
      name: 'Everything',
      schedule: 'monthly_last_day',
      startedAt: past(world, -1, 2),
      siteIds: null,
      core: true,
      plugins: { ...all },
      themes: { ...all },
    },
  ];
  for (const { agoDays, paused, ...fields } of specs) {
    if (fields.siteIds?.length === 0) continue;
    const schedule = addSchedule(world, fields, world.startedAt - agoDays * DAY);
    if (paused) schedule.status = 'paused';
  }
}

const isFailing = ({ sync }: Site) => sync.failsWith !== null;
const isBeingRebuilt = ({ sync }: Site) => sync.maintenanceUntil !== null;
const isInTrouble = (site: Site) => isFailing(site) || isBeingRebuilt(site);

/** This hour of the day (UTC), this many days before the start of the service. */
function past(world: World, days: number, hour: number): number {
  const midnight = Math.floor(world.startedAt / DAY) * DAY;
  return midnight - days * DAY + hour * HOUR;
}
