/** The clients and tags of the fleet. */

import type { Client, Tag } from '../model/account.ts';
import type { Site } from '../model/site.ts';
import type { World } from '../model/world.ts';
import { giveSites, tagSite } from '../world/account.ts';
import { idOf, nextNumber } from '../world/ids.ts';
import type { Random } from '../world/random.ts';
import { DAY } from '../world/service-time.ts';
import { firstNames, lastNames, places, slug, tagColors, tagNames, trades } from './names.ts';

/** A client has up to this many sites; about every eighth site has no client. */
const SITES_PER_CLIENT = 5;

/** Adds the clients and assigns consecutive sites to each. */
export function generateClients(world: World, random: Random): void {
  const sites = [...world.sites.values()];
  for (let at = 0; at < sites.length; ) {
    const count = random.between(1, SITES_PER_CLIENT);
    const theirs = sites.slice(at, at + count);
    at += count;
    if (random.next() < 1 / 8) continue;
    generateClient(world, random, theirs);
  }
}

function generateClient(world: World, random: Random, sites: readonly Site[]): void {
  const number = nextNumber(world, 'client');
  const id = idOf('client', number);
  const [first_name, last_name] = [random.pick(firstNames), random.pick(lastNames)];
  const company_name = `${random.pick(places)} ${random.pick(trades)} Ltd`;
  const createdAt = world.startedAt - random.between(70, 900) * DAY;
  const client: Client = {
    id,
    fields: {
      first_name,
      last_name,
      email: `${slug(first_name)}.${slug(last_name)}@${slug(company_name)}-${number}.example`,
      company_name,
      address: random.next() < 0.5 ? '' : `${random.between(1, 90)} ${random.pick(places)} Street`,
      note: '',
    },
    siteIds: new Set(),
    createdAt,
    updatedAt: createdAt + random.between(0, 60) * DAY,
  };
  world.clients.set(id, client);
  giveSites(world, client, sites);
}

/** Adds the tags; a site has none to three. */
export function generateTags(world: World, random: Random): void {
  const tags = tagNames.map((name, at): Tag => {
    const id = String(nextNumber(world, 'tag'));
    const createdAt = world.startedAt - (400 - at * 20) * DAY;
    const color = at === tagNames.length - 1 ? null : (tagColors[at] ?? null);
    const tag: Tag = { id, name, color, siteIds: new Set(), createdAt, updatedAt: createdAt };
    world.tags.set(id, tag);
    return tag;
  });
  for (const site of world.sites.values()) {
    for (const tag of random.shuffle(tags).slice(0, random.between(0, 3))) tagSite(tag, site);
  }
}
