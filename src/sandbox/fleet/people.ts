/** The other members of the account, and the accounts in which its owner works. */
import type { Client, ManagedAccount, Role, Tag } from '../model/account.ts';
import type { Site } from '../model/site.ts';
import type { World } from '../model/world.ts';
import { giveSites } from '../resources/clients.ts';
import { addStaging } from '../resources/staging-sites.ts';
import { tagSite } from '../resources/tags.ts';
import { invite, joinTeam } from '../resources/team-members.ts';
import { idOf, nextNumber, type Random } from '../world/numbers.ts';
import { snapshotsOf } from '../world/snapshots.ts';
import { DAY, HOUR, MINUTE } from '../world/time.ts';
import { firstNames, lastNames, places, slug, tagColors, tagNames, trades } from './names.ts';

const team: readonly { role: Role; daysAgo: number; twoFa?: boolean; allSites?: boolean }[] = [
  { role: 'co_owner', daysAgo: 700, twoFa: true, allSites: true },
  { role: 'administrator', daysAgo: 400, twoFa: true, allSites: true },
  { role: 'administrator', daysAgo: 150 },
  { role: 'collaborator', daysAgo: 90 },
  { role: 'collaborator', daysAgo: 30, twoFa: true },
  // The last two invitations are still pending.
  { role: 'collaborator', daysAgo: 1 },
  { role: 'administrator', daysAgo: 0.2, allSites: true },
];

/** Adds the team; collaborators have access to five sites. */
export function generateTeam(world: World, random: Random): void {
  const sites = [...world.sites.keys()];
  for (const [nth, { role, daysAgo, twoFa = false, allSites = false }] of team.entries()) {
    const at = world.startedAt - Math.floor(daysAgo * DAY) - random.between(1, 3) * HOUR;
    const name = `${random.pick(firstNames)} ${random.pick(lastNames)}`;
    const fields = {
      name,
      email: `${slug(name)}-${nth + 1}@agency.example`,
      companyName: nth % 2 === 0 ? 'Lind & Partners' : '',
      note: nth === 3 ? 'Texts and pictures only.' : '',
      role,
      allSitesAccess: allSites,
      siteIds: new Set(allSites ? [] : random.shuffle(sites.slice(0, 40)).slice(0, 5)),
    };
    const member = invite(world, fields, at);
    if (daysAgo > 2) joinTeam(world, member.id, at + DAY);
    member.twoFa = twoFa;
  }
}

const accounts: readonly Pick<ManagedAccount, 'role' | 'companyName' | 'status' | 'allSitesAccess'>[] = [
  { role: 'administrator', companyName: 'Harbor Hotels', status: 'connected', allSitesAccess: true },
  { role: 'collaborator', companyName: 'Silver Cycles', status: 'connected', allSitesAccess: false },
  { role: 'co_owner', companyName: 'Maple Law', status: 'connected', allSitesAccess: true },
  { role: 'collaborator', companyName: 'Garden Books', status: 'rejected', allSitesAccess: false },
  { role: 'administrator', companyName: 'Station Gym', status: 'pending', allSitesAccess: false },
  { role: 'collaborator', companyName: 'Alpine Travel', status: 'pending', allSitesAccess: true },
];

/** Adds the accounts that the caller works in or is invited to, and one invitation to another person. */
export function generateManagedAccounts(world: World, random: Random): void {
  const { caller, startedAt } = world;
  const add = (facts: (typeof accounts)[number], invited: string, nth: number) => {
    const id = idOf('managed', nth);
    const createdAt = startedAt - (200 - nth * 25) * DAY - random.between(0, 20) * HOUR;
    const email = `owner@${slug(facts.companyName)}.example`;
    const updatedAt = facts.status === 'pending' ? createdAt : createdAt + DAY;
    world.managedAccounts.set(id, { id, email, invited, ...facts, createdAt, updatedAt });
  };
  for (const [nth, facts] of accounts.entries()) add(facts, caller.email, nth + 1);
  const [, , , , pending] = accounts;
  if (pending)
    add({ ...pending, companyName: 'Market Tailor' }, 'somebody@else.example', accounts.length + 1);
}

// The clients and tags of the fleet.

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

// The external storage that the account has connected, and the staging copies of its sites.

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
