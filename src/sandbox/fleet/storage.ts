/** The external storage that the account has connected, and the staging copies of its sites. */

import type { Site } from '../model/site.ts';
import type { World } from '../model/world.ts';
import type { Random } from '../world/random.ts';
import { DAY, MINUTE } from '../world/service-time.ts';
import { snapshotsOf } from '../world/snapshots.ts';
import { addStaging } from '../world/staging.ts';

/**
 * Adds the saved destinations: provider_two works, and the last test of provider_one failed. With an even
 * seed, provider_one has no saved destination.
 */
export function generateStorage({ storage, seed, startedAt }: World): void {
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

interface Spec {
  /** When it was made, last used, and until when it was extended, in days before the start. */
  made: number;
  used?: number;
  expires?: number;
  /** `sameSiteAs` names an earlier copy of the same site. */
  name?: string;
  sameSiteAs?: string;
}

const copies: readonly Spec[] = [
  { made: 27, used: 14, expires: -1, name: 'extended' },
  { made: 19 },
  { made: 15, name: 'expired' },
  { made: 12.5, used: 1 },
  { made: 6, sameSiteAs: 'extended' },
  { made: 2.5, sameSiteAs: 'expired' },
  { made: 1 },
  { made: 1 / (24 * 60) },
];

/** Adds copies of all ages, oldest first, this many per sixty sites. Settling brings them up to date. */
export function generateStaging(world: World, random: Random): void {
  const rounds = Math.min(20, Math.max(1, Math.floor(world.sites.size / 60)));
  const candidates = random.shuffle([...world.sites.values()].slice(0, 2000));
  const named = new Map<string, Site>();
  for (const { made, used = made, expires, name, sameSiteAs } of copies) {
    const at = world.startedAt - Math.floor(made * DAY);
    for (let round = 0; round < rounds; round += 1) {
      const same = named.get(`${sameSiteAs} ${round}`);
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

/** Removes and returns the first site that has a complete snapshot from before a time. */
function takeOldEnough(sites: Site[], at: number): Site | undefined {
  const nth = sites.findIndex((site) => lastBefore(site, at) !== undefined);
  return nth === -1 ? undefined : sites.splice(nth, 1)[0];
}

/** The newest complete snapshot of a site from before a time. */
function lastBefore(site: Site, at: number): { id: string; createdAt: number } | undefined {
  if (!site.connected || !site.backups.enabled) return undefined;
  const found = snapshotsOf(site).findLast(
    ({ status, createdAt }) => status === 'succeeded' && createdAt < at,
  );
  return found && { id: found.id, createdAt: found.createdAt };
}
