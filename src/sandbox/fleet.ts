/**
 * Generates the world from a seed. The same number of sites and the same seed always give the same world,
 * relative to the time at which the service starts.
 */
import {
  generateClients,
  generateManagedAccounts,
  generateStaging,
  generateStorage,
  generateTags,
  generateTeam,
} from './fleet/people.ts';
import { assignKinds, generateSite } from './fleet/sites.ts';
import { generateReports, generateSchedules, generateSenderEmails, generateTasks } from './fleet/work.ts';
import type { PlanFeature } from './model/account.ts';
import type { World } from './model/world.ts';
import { newBranding } from './resources/branding.ts';
import { randomFrom, seedOf } from './world/numbers.ts';
import { newReporting } from './world/reports.ts';
import { advance } from './world/settle.ts';
import { createAgenda } from './world/time.ts';
import { newUpdates } from './world/updates.ts';

export interface FleetOptions {
  sites: number;
  seed: number;
  /** The service's time at the start. */
  now: number;
  /** What the account's plan lacks; default: nothing. */
  planLacks?: readonly PlanFeature[];
}

/** Generates the account: sites of every kind, their clients and tags, and a few tasks. */
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
  const kinds = assignKinds(sites, randomFrom(seedOf(seed, 'kinds')));
  for (let number = 1; number <= sites; number += 1) generateSite(world, number, sites, kinds.get(number));
  generateClients(world, randomFrom(seedOf(seed, 'clients')));
  generateTags(world, randomFrom(seedOf(seed, 'tags')));
  generateTasks(world, randomFrom(seedOf(seed, 'tasks')));
  generateSenderEmails(world);
  generateSchedules(world);
  generateReports(world);
  generateTeam(world, randomFrom(seedOf(seed, 'team')));
  generateManagedAccounts(world, randomFrom(seedOf(seed, 'managed accounts')));
  generateStorage(world);
  generateStaging(world, randomFrom(seedOf(seed, 'staging')));
  advance(world, now);
  return world;
}
