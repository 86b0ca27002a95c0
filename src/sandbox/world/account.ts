/** Sites that are added and removed while the service runs, and what they are grouped by or what else the account has. */

import { isoDay } from '../../dates.ts';
import type {
  Client,
  CustomWork,
  Destination,
  ManagedAccount,
  MemberFields,
  PlanFeature,
  SiteWorks,
  Tag,
  TeamMember,
  WorkFields,
} from '../model/account.ts';
import type { Site } from '../model/site.ts';
import type { World } from '../model/world.ts';
import { cannot, Refusal } from '../refusal.ts';
import { idOf, nextNumber } from './ids.ts';
import { randomFrom, seedOf } from './random.ts';
import { scheduledReportOf } from './scheduled-reports.ts';
import { DAY, MINUTE } from './service-time.ts';
import { newSite } from './site.ts';
import { planDailySync } from './syncs.ts';

/** How long it takes until the plugin is installed on a registered site. */
const CONNECTS_AFTER = 5 * MINUTE;

/** Registers a site. It is disconnected until its plugin is installed, after five minutes. */
export function registerSite(world: World, url: string, now: number): Site {
  const site = newSite(nextNumber(world, 'site'), { url, title: new URL(url).host, createdAt: now });
  site.connected = false;
  world.sites.set(site.id, site);
  planDailySync(world, site, now);
  world.agenda.add(now + CONNECTS_AFTER, { does: 'connect-site', site: site.id });
  return site;
}

/** Disconnected -> connected: from now on the service knows the site's software. */
export function connectSite(world: World, id: string, at: number): void {
  const site = world.sites.get(id);
  if (!site || site.connected) return;
  site.connected = true;
  site.server = { hosting: 'Northwind Hosting', mysql_version: '8.0.39', php_version: '8.3.14' };
  site.updatedAt = at;
}

/** Removes a site from the account, with its notes, log and staging copies. Its running sync ends. */
export function removeSite(world: World, site: Site): void {
  for (const id of [...site.tagIds]) {
    const tag = world.tags.get(id);
    if (tag) untagSite(tag, site);
  }
  const client = site.clientId === null ? undefined : world.clients.get(site.clientId);
  client?.siteIds.delete(site.id);
  for (const { fields } of world.team.values()) fields.siteIds.delete(site.id);
  for (const staging of world.staging.values()) {
    if (staging.siteId === site.id) world.staging.delete(staging.id);
  }
  const scheduled = scheduledReportOf(world, site.id);
  if (scheduled) world.reporting.scheduled.delete(scheduled.id);
  world.notes.delete(site.id);
  world.customWorks.delete(site.id);
  world.activity.delete(site.id);
  world.sites.delete(site.id);
}

/** Replaces the client's sites. */
export function giveSites(world: World, client: Client, sites: readonly Site[]): void {
  for (const id of client.siteIds) {
    const site = world.sites.get(id);
    if (site) site.clientId = null;
  }
  client.siteIds.clear();
  for (const site of sites) {
    site.clientId = client.id;
    client.siteIds.add(site.id);
  }
}

/** Removes the client. Its sites stay, without a client. */
export function removeClient(world: World, client: Client): void {
  giveSites(world, client, []);
  world.clients.delete(client.id);
}

/** The maximum number of tags per site. */
export const TAGS_PER_SITE = 10;

export function tagSite(tag: Tag, site: Site): void {
  tag.siteIds.add(site.id);
  site.tagIds.push(tag.id);
}

export function untagSite(tag: Tag, site: Site): void {
  tag.siteIds.delete(site.id);
  site.tagIds = site.tagIds.filter((id) => id !== tag.id);
}

/** Removes the tag, also from all sites. */
export function removeTag(world: World, tag: Tag): void {
  for (const id of tag.siteIds) {
    const site = world.sites.get(id);
    if (site) untagSite(tag, site);
  }
  world.tags.delete(tag.id);
}

/**
 * Pending -> connected or rejected.
 *
 * @throws {Refusal} 422 when the invitation was already answered.
 */
export function answerInvitation(
  account: ManagedAccount,
  status: 'connected' | 'rejected',
  at: number,
): void {
  if (account.status !== 'pending') {
    throw cannot('invitation_not_pending', `The invitation is ${account.status} already.`);
  }
  account.status = status;
  account.updatedAt = at;
}

/** How long it takes until an invitation is accepted. */
const ACCEPTED_AFTER = 2 * DAY;

/** Sends an invitation, which is accepted after two days. */
export function invite(world: World, fields: MemberFields, at: number): TeamMember {
  const id = idOf('member', nextNumber(world, 'member'));
  const member: TeamMember = { id, fields, status: 'pending', twoFa: false, createdAt: at, updatedAt: at };
  world.team.set(id, member);
  world.agenda.add(at + ACCEPTED_AFTER, { does: 'join-team', member: id });
  return member;
}

/** Replaces a pending invitation with a new one with another id; the old one is no longer valid. */
export function replaceInvitation(
  world: World,
  old: TeamMember,
  fields: MemberFields,
  at: number,
): TeamMember {
  world.team.delete(old.id);
  return invite(world, fields, at);
}

/** Pending -> connected. Does nothing for an invitation that was replaced or deleted meanwhile. */
export function joinTeam(world: World, id: string, at: number): void {
  const member = world.team.get(id);
  if (member?.status !== 'pending') return;
  member.status = 'connected';
  member.updatedAt = at;
}

/** Custom work on a site (spec 2.18). */
type OldWork = readonly [title: string, description: string];

/** The entries of a site. Those from before the sandbox started are generated at the first request. */
export function worksOf(world: World, site: Site): SiteWorks {
  const known = world.customWorks.get(site.id);
  if (known) return known;
  const made: SiteWorks = { made: 0, works: new Map() };
  world.customWorks.set(site.id, made);
  if (site.createdAt >= world.startedAt) return made;
  const random = randomFrom(seedOf(world.seed, `works ${site.number}`));
  for (let count = random.between(0, 3); count > 0; count -= 1) {
    const at = world.startedAt - count * 9 * DAY - random.between(0, 5) * DAY;
    const [title, description] = random.pick(oldWorks);
    addWork(made, site, { title, description, performedOn: isoDay(at) }, at);
  }
  return made;
}

const oldWorks: readonly [OldWork, ...OldWork[]] = [
  ['New opening hours', ''],
  ['Contact form repaired', 'Letters went to an address that no longer exists.'],
  ['Images made smaller', 'The front page loads in half the time.'],
  ['Cookie notice replaced', ''],
];

/** Adds an entry. */
export function addWork(on: SiteWorks, site: Site, fields: WorkFields, at: number): CustomWork {
  on.made += 1;
  const id = `${idOf('work', site.number)}-${String(on.made).padStart(3, '0')}`;
  const work: CustomWork = { id, ...fields, createdAt: at, updatedAt: at };
  on.works.set(id, work);
  return work;
}

/** @throws {Refusal} 422 `plan_without_<feature>`. */
export function requireFeature({ planLacks }: World, feature: PlanFeature): void {
  if (planLacks.has(feature)) {
    throw cannot(`plan_without_${feature}`, `The account's plan has no ${feature.replace('_', ' ')}.`);
  }
}

/** Active -> inactive; deletes the data of the storage account. Returns whether it was connected. */
export function disconnect(destination: Destination, at: number): boolean {
  if (destination.account === null) return false;
  Object.assign(destination, {
    status: 'inactive',
    account: null,
    folder: null,
    testedAt: null,
    updatedAt: at,
  });
  return true;
}

/**
 * Checks whether the storage answers, and updates its status.
 *
 * @throws {Refusal} 503 while the provider is down; 422 when no account is connected.
 */
export function testStorage({ storage, luck, seed }: World, destination: Destination, at: number): void {
  if (storage.down || randomFrom(seedOf(seed, `storage ${at}`)).next() < luck.storageDown) {
    throw new Refusal(503, 'storage_unavailable', 'The storage provider is temporarily unavailable.');
  }
  if (destination.account === null) {
    throw cannot('destination_disconnected', 'The destination is disconnected: connect it in the dashboard.');
  }
  Object.assign(destination, { status: 'active', testedAt: at, error: null, updatedAt: at });
}
