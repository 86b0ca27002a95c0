/**
 * The world at the start, made from a seed: the same number of sites and the same seed give the same world always,
 * counted back from the moment the service starts.
 */
import { plantClients, plantTags } from './fleet/groups.ts';
import { dealKinds } from './fleet/kinds.ts';
import { plantSite } from './fleet/sites.ts';
import { plantTasks } from './fleet/tasks.ts';
import { createAgenda } from './world/agenda.ts';
import { randomFrom, seedOf } from './world/random.ts';
import { settle } from './world/settle.ts';
import type { World } from './world/world.ts';

export interface FleetOptions {
  sites: number;
  seed: number;
  /** The service's time at the start. */
  now: number;
}

/** Makes the account: sites of every kind, their clients and tags, and a few tasks. */
export function makeFleet({ sites, seed, now }: FleetOptions): World {
  const world: World = {
    seed,
    startedAt: now,
    sites: new Map(),
    clients: new Map(),
    tags: new Map(),
    tasks: new Map(),
    agenda: createAgenda(),
    numbers: { site: 0, client: 0, tag: 10, task: 0 },
  };
  const kinds = dealKinds(sites, randomFrom(seedOf(seed, 'kinds')));
  for (let number = 1; number <= sites; number += 1) plantSite(world, number, sites, kinds.get(number));
  plantClients(world, randomFrom(seedOf(seed, 'clients')));
  plantTags(world, randomFrom(seedOf(seed, 'tags')));
  plantTasks(world, randomFrom(seedOf(seed, 'tasks')));
  settle(world, now);
  return world;
}
