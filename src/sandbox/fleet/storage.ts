/** The storage outside the service that the account has connected, and the staging copies of its sites. */
import type { Random } from '../world/random.ts';
import { DAY, MINUTE } from '../world/service-time.ts';
import type { Site } from '../world/site.ts';
import { snapshotsOf } from '../world/snapshots.ts';
import { addStaging } from '../world/staging.ts';
import type { World } from '../world/world.ts';

/**
 * Plants the saved destinations: provider_two in good health, provider_one with a test that failed last time. In
 * accounts of an even seed nothing is saved for provider_one.
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

/** When copies were made, and when they were last used or until when extended, in days before the start. */
const copies: readonly { made: number; used?: number; expires?: number }[] = [
  { made: 27, used: 14, expires: -1 },
  { made: 19 },
  { made: 15 },
  { made: 12.5, used: 1 },
  { made: 6 },
  { made: 2.5 },
  { made: 1 },
  { made: 1 / (24 * 60) },
];

/** Plants copies of all ages, oldest first, as many for each sixty sites; settling brings them up to the present. */
export function plantStaging(world: World, random: Random): void {
  const rounds = Math.max(1, Math.floor(world.sites.size / 60));
  const candidates = random.shuffle([...world.sites.values()].slice(0, 2000));
  for (const { made, used = made, expires } of copies) {
    const at = world.startedAt - Math.floor(made * DAY);
    for (let round = 0; round < Math.min(rounds, 20); round += 1) {
      const found = takeOldEnough(candidates, at);
      if (!found) break;
      const { site, snapshot } = found;
      const phpVersion = random.pick(['8.1', '8.2', '8.3']);
      const plan = { siteId: site.id, siteUrl: site.url, phpVersion, user: world.caller, snapshot };
      const staging = addStaging(world, plan, at - round * MINUTE);
      staging.usedAt = world.startedAt - Math.floor(used * DAY);
      if (expires !== undefined) staging.expiresAt = world.startedAt - expires * DAY;
    }
  }
}

/** Takes the first site that has a complete snapshot from before a moment; those before it stay. */
function takeOldEnough(sites: Site[], at: number) {
  for (const [nth, site] of sites.entries()) {
    const snapshot = lastBefore(site, at);
    if (!snapshot) continue;
    sites.splice(nth, 1);
    return { site, snapshot };
  }
  return undefined;
}

/** The newest complete snapshot of a site from before a moment. */
function lastBefore(site: Site, at: number): { id: string; createdAt: number } | undefined {
  if (!site.connected || !site.backups.enabled) return undefined;
  const found = snapshotsOf(site).findLast(
    ({ status, createdAt }) => status === 'succeeded' && createdAt < at,
  );
  return found && { id: found.id, createdAt: found.createdAt };
}
