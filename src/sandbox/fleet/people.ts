/** The other members of the account, and the accounts in which its owner works. */
import type { ManagedAccount, Role } from '../model/account.ts';
import type { World } from '../model/world.ts';
import { invite, joinTeam } from '../world/account.ts';
import { idOf } from '../world/ids.ts';
import type { Random } from '../world/random.ts';
import { DAY, HOUR } from '../world/service-time.ts';
import { firstNames, lastNames, slug } from './names.ts';

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
