/** The storage outside the service that the account has connected, and the staging copies of its sites. */

import type { Site } from '../model/site.ts';
import type { World } from '../model/world.ts';
import type { Random } from '../world/random.ts';
import { DAY, MINUTE } from '../world/service-time.ts';
import { snapshotsOf } from '../world/snapshots.ts';
import { addStaging } from '../world/staging.ts';

/**
 * Plants the saved destinations: provider_two in good health, provider_one with a test that failed last time.
 * In accounts of an even seed nothing is saved for provider_one.
 */
export function plantStorage({ storage, seed, startedAt }: World): void {
  const createdAt = startedAt - 120 * DAY;
  if (seed % 2 === 1) {
    storage.saved.set('provider_one', {
      id: 'destination-0001',
      provider: 'provider_one',
      name: 'Offsite archive',
      status: 'inactive',
      account: { email: 'archive@agency.example', id: 'one-48151' },
      folder: null,
      testedAt: startedAt - 3 * DAY,
      error: { code: 'unreachable', message: 'The storage did not answer in time.' },
      createdAt,
      updatedAt: startedAt - 3 * DAY,
    });
  }
  storage.saved.set('provider_two', {
    id: 'destination-0002',
    provider: 'provider_two',
    name: 'Shared drive',
    status: 'active',
    account: { email: 'drive@agency.example', id: 'two-16234' },
    folder: { id: 'folder-77', name: 'Backups' },
    testedAt: startedAt - DAY,
    error: null,
    createdAt,
    updatedAt: startedAt - DAY,
  });
}

interface Planting {
  /** When it was made, and when it was last used or until when extended, in days before the start. */
  made: number;
  used?: number;
  expires?: number;
  /** It is of the same site as an earlier one of these, which is called so. */
  name?: string;
  besides?: string;
}

const copies: readonly Planting[] = [
  { made: 27, used: 14, expires: -1, name: 'extended' },
  { made: 19 },
  { made: 15, name: 'expired' },
  { made: 12.5, used: 1 },
  { made: 6, besides: 'extended' },
  { made: 2.5, besides: 'expired' },
  { made: 1 },
  { made: 1 / (24 * 60) },
];

/**
 * Plants copies of all ages, oldest first, as many for each sixty sites; settling brings them up to the
 * present.
 */
export function plantStaging(world: World, random: Random): void {
  const rounds = Math.min(20, Math.max(1, Math.floor(world.sites.size / 60)));
  const candidates = random.shuffle([...world.sites.values()].slice(0, 2000));
  const named = new Map<string, Site>();
  for (const { made, used = made, expires, name, besides } of copies) {
    const at = world.startedAt - Math.floor(made * DAY);
    for (let round = 0; round < rounds; round += 1) {
      const same = named.get(`${besides} ${round}`);
      const site = same ?? takeOldEnough(candidates, at);
      const snapshot = site && lastBefore(site, at);
      if (!snapshot) break;
      if (name !== undefined) named.set(`${name} ${round}`, site);
      const phpVersion = random.pick(['8.1', '8.2', '8.3']);
      const plan = { siteId: site.id, siteUrl: site.url, phpVersion, user: world.caller, snapshot };
      const staging = addStaging(world, plan, at - round * MINUTE);
      staging.usedAt = world.startedAt - Math.floor(used * DAY);
      if (expires !== undefined) staging.expiresAt = world.startedAt - expires * DAY;
    }
  }
}

/** Takes the first site that has a complete snapshot from before a moment; those before it stay. */
function takeOldEnough(sites: Site[], at: number): Site | undefined {
  const nth = sites.findIndex((site) => lastBefore(site, at) !== undefined);
  return nth === -1 ? undefined : sites.splice(nth, 1)[0];
}

/** The newest complete snapshot of a site from before a moment. */
function lastBefore(site: Site, at: number): { id: string; createdAt: number } | undefined {
  if (!site.connected || !site.backups.enabled) return undefined;
  const found = snapshotsOf(site).findLast(
    ({ status, createdAt }) => status === 'succeeded' && createdAt < at,
  );
  return found && { id: found.id, createdAt: found.createdAt };
}
