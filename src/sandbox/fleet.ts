/**
 * The world at the start, made from a seed: the same number of sites and the same seed give the same world
 * always, counted back from the moment the service starts.
 */
import { plantClients, plantTags } from './fleet/groups.ts';
import { dealKinds } from './fleet/kinds.ts';
import { plantManagedAccounts, plantTeam } from './fleet/people.ts';
import { plantReports } from './fleet/reports.ts';
import { plantSchedules } from './fleet/schedules.ts';
import { plantSenderEmails } from './fleet/senders.ts';
import { plantSite } from './fleet/sites.ts';
import { plantStaging, plantStorage } from './fleet/storage.ts';
import { plantTasks } from './fleet/tasks.ts';
import type { PlanFeature } from './model/plan.ts';
import type { World } from './model/world.ts';
import { createAgenda } from './world/agenda.ts';
import { newBranding } from './world/branding.ts';
import { randomFrom, seedOf } from './world/random.ts';
import { newReporting } from './world/reporting.ts';
import { advance } from './world/settle.ts';
import { newUpdates } from './world/updates.ts';

export interface FleetOptions {
  sites: number;
  seed: number;
  /** The service's time at the start. */
  now: number;
  /** What the account's plan does not have; default: nothing. */
  planLacks?: readonly PlanFeature[];
}

/** Makes the account: sites of every kind, their clients and tags, and a few tasks. */
export function makeFleet({ sites, seed, now, planLacks = [] }: FleetOptions): World {
  const world: World = {
    seed,
    startedAt: now,
    caller: { name: 'Mara Lind', email: 'mara@agency.example' },
    sites: new Map(),
    clients: new Map(),
    tags: new Map(),
    tasks: new Map(),
    managedAccounts: new Map(),
    storage: { saved: new Map(), disabled: new Set(), down: false },
    team: new Map(),
    staging: new Map(),
    notes: new Map(),
    customWorks: new Map(),
    activity: new Map(),
    senderEmails: new Map(),
    branding: newBranding(),
    updates: newUpdates(),
    reporting: newReporting(),
    planLacks: new Set(planLacks),
    agenda: createAgenda(),
    luck: { stuck: 0, failing: 0, aborted: 0, storageDown: 0 },
    numbers: {
      site: 0,
      client: 0,
      tag: 10,
      task: 0,
      member: 0,
      staging: 0,
      sender: 0,
      schedule: 0,
      report: 0,
      template: 0,
      scheduled: 0,
    },
  };
  const kinds = dealKinds(sites, randomFrom(seedOf(seed, 'kinds')));
  for (let number = 1; number <= sites; number += 1) plantSite(world, number, sites, kinds.get(number));
  plantClients(world, randomFrom(seedOf(seed, 'clients')));
  plantTags(world, randomFrom(seedOf(seed, 'tags')));
  plantTasks(world, randomFrom(seedOf(seed, 'tasks')));
  plantSenderEmails(world);
  plantSchedules(world);
  plantReports(world);
  plantTeam(world, randomFrom(seedOf(seed, 'team')));
  plantManagedAccounts(world, randomFrom(seedOf(seed, 'managed accounts')));
  plantStorage(world);
  plantStaging(world, randomFrom(seedOf(seed, 'staging')));
  advance(world, now);
  return world;
}
