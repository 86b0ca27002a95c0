/**
 * The client and the tags of a target: those of its site, or its own. They decide which freezes and which
 * limits of a client or a tag hold for it.
 *
 * A site names its client and tags (spec 2.17). A report names its site and its client, a staging site and a
 * scheduled report only the site. Tasks and update schedules do not show their sites. What belongs to no site
 * (a template, a sender address) has neither client nor tags.
 */
import { allItems } from '../../client/pages.ts';
import type { End } from '../../job/answer.ts';
import { type CandidateList, isList } from '../../job/candidates.ts';
import { candidatesOf } from '../../job/source.ts';
import type { GroupLimits, Policy } from '../../policy/policy.ts';
import type { ScopedFreeze } from '../../records/freeze-scope.ts';
import { formatFreeze, formatFrozen } from '../../records/freeze-store.ts';
import type { Group } from '../../records/group-places.ts';
import type { Parent } from './listing.ts';
import { type Complete, callOptionsOf, type Planning } from './planning.ts';

/** A client or a tag. */
export interface Party {
  id: string;
  /** What people call it; a client has several names. */
  names: readonly string[];
}

/** `null` and an empty list: it has none. Absent: the service does not show it. */
export interface Owner {
  client?: Party | null;
  tags?: readonly Party[];
}

/** A candidate, as far as its owner is concerned. */
export interface Owned {
  item?: unknown;
  parent?: Parent | undefined;
  /** The site that it holds. */
  site?: string | undefined;
}

/** Lists whose items belong to no site. */
const ownerless: readonly CandidateList[] = [
  'listReportTemplates',
  'listTeamMembers',
  'listManagedAccounts',
  'listSenderEmails',
  'listBackupDestinations',
];

/**
 * Creates the function that finds owners. Costs nothing for sites and what is listed by site; for anything
 * else one request per 100 sites, once for the plan. For a site whose list does not show them, a single view.
 */
export function createOwners(planning: Planning, complete: Complete): (owned: Owned) => Promise<Owner> {
  const list = candidatesOf(planning.job, planning.policy.select);
  let sites: Promise<ReadonlyMap<string, Owner>> | undefined;
  const bySite = async (site: string): Promise<Owner> => {
    sites ??= allSites(planning);
    return (await sites).get(site) ?? {};
  };
  const ofSite = async (site: unknown): Promise<Owner> => {
    const owner = ownerIn(site);
    if (owner.client !== undefined && owner.tags !== undefined) return owner;
    return ownerIn(await complete('listSites', site, {}));
  };
  const ofItem = async (item: unknown, site: string | undefined): Promise<Owner> => {
    if (list === 'listSites') return ofSite(item);
    if (list === 'listClients') return { client: partyOf(item), tags: [] };
    if (list === 'listTags') return { client: null, tags: [partyOf(item)] };
    if (!isList(list) || ownerless.includes(list)) return { client: null, tags: [] };
    const of = siteIn(item) ?? site;
    if (of === undefined) return {};
    const { client: own } = ownerIn(item);
    const owner = await bySite(of);
    return own ? { ...owner, client: own } : owner;
  };
  return async ({ item, parent, site }) => {
    if (parent) return planning.policy.select.forEach?.list === 'listSites' ? ofSite(parent.item) : {};
    if (item !== undefined) return ofItem(item, site);
    return site === undefined ? {} : bySite(site);
  };
}

async function allSites(planning: Planning): Promise<ReadonlyMap<string, Owner>> {
  const sites = new Map<string, Owner>();
  const options = callOptionsOf(planning);
  const { client, onIncomplete } = planning;
  const all = allItems('listSites', (page) => client.call('listSites', page, options), { onIncomplete });
  for await (const site of all) sites.set(site.id, ownerIn(site));
  return sites;
}

function siteIn(item: unknown): string | undefined {
  const { site, site_id: id } = item as { site?: { id?: unknown } | null; site_id?: unknown };
  return [site?.id, id].find((one): one is string => typeof one === 'string');
}

function ownerIn(item: unknown): Owner {
  const { client, tags } = item as { client?: object | null; tags?: readonly object[] | null };
  return {
    ...(client === undefined ? {} : { client: client === null ? null : partyOf(client) }),
    ...(Array.isArray(tags) ? { tags: tags.map(partyOf) } : {}),
  };
}

function partyOf(item: unknown): Party {
  const { id, name, company_name, first_name, last_name } = item as Record<string, unknown>;
  const full = [first_name, last_name].filter((part) => typeof part === 'string' && part !== '').join(' ');
  const names = [company_name, name, full].filter(
    (one): one is string => typeof one === 'string' && one !== '',
  );
  return { id: String(id ?? ''), names };
}

/** `ACME`, or the id of a party without a name. */
export const labelOfParty = ({ id, names: [name = id] }: Party): string => name;

/** Whether a person means this party by an id or a name, in any case of letters. */
export const isMeant = ({ id, names }: Party, text: string): boolean =>
  id === text || names.some((name) => name.toLowerCase() === text.toLowerCase());

// Which targets a freeze of a client or a tag holds for.

/**
 * How a target ends because it is frozen; undefined when no freeze holds for it. A target of which the
 * service does not show what a freeze depends on counts as frozen.
 */
export function frozenEnd(freezes: readonly ScopedFreeze[], owner: Owner): End | undefined {
  for (const freeze of freezes) {
    const holds = holdsFor(freeze.scope, owner);
    if (holds === false) continue;
    const begin = holds === 'unknown' ? 'The service does not show its client or tags, and ' : '';
    const subject = formatFrozen(freeze);
    const sentence = `${begin}${subject} is ${formatFreeze(freeze)}.`;
    return {
      is: 'skipped',
      reason: 'frozen',
      detail: `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}`,
    };
  }
  return undefined;
}

function holdsFor({ client, tag }: { client?: string; tag?: string }, owner: Owner): boolean | 'unknown' {
  const parties = owner.client === undefined ? undefined : owner.client === null ? [] : [owner.client];
  const answers = [isOneOf(client, parties), isOneOf(tag, owner.tags)];
  if (answers.includes(false)) return false;
  return answers.includes('unknown') ? 'unknown' : true;
}

function isOneOf(text: string | undefined, parties: readonly Party[] | undefined): boolean | 'unknown' {
  if (text === undefined) return true;
  return parties === undefined ? 'unknown' : parties.some((party) => isMeant(party, text));
}

/**
 * Of each entry of `notify` with a route: the receiver of the first rule that holds for a target of this owner, or else
 * its default. So it is when the service does not show what an earlier rule depends on: that one may hold.
 */
export const toldOf = (notify: Policy['notify'], owner: Owner): string[] =>
  notify.flatMap(({ to, route }) => {
    const rule = route?.find((one) => holdsFor(one, owner) !== false);
    return route ? [rule && holdsFor(rule, owner) === true ? rule.to : to] : [];
  });

// `limits.per_client` and `limits.per_tag`: the groups that a target belongs to, and how many targets each has.

type Limits = Pick<Policy['limits'], 'perClient' | 'perTag'>;

const limitsOf = ({ perClient, perTag }: Limits, { kind }: Group): GroupLimits | undefined =>
  kind === 'client' ? perClient : perTag;

/** Whether the owners of targets have to be known. */
export const hasGroupLimits = ({ perClient, perTag }: Limits): boolean =>
  perClient !== undefined || perTag !== undefined;

/**
 * The groups of a target that have limits. Targets whose client is not shown are a group of their own, and so
 * are those whose tags are not shown. A target without a client or tags has no such limits.
 */
export function groupsOf({ perClient, perTag }: Limits, { client, tags }: Owner): Group[] {
  return [
    ...(perClient ? groupsOfKind('client', client === null ? [] : client && [client]) : []),
    ...(perTag ? groupsOfKind('tag', tags) : []),
  ];
}

function groupsOfKind(kind: Group['kind'], parties: readonly Party[] | undefined): Group[] {
  if (parties === undefined) return [{ kind, id: '', label: `an unknown ${kind}` }];
  return parties.map((party) => ({
    kind,
    // The id is a part of a key, whose parts are separated by line breaks.
    id: party.id.replace(/\n/g, ' '),
    label: `the ${kind} "${labelOfParty(party)}"`,
  }));
}

/** Those of the groups of which only this many targets may be in flight. */
export const withPlaces = (limits: Limits, groups: readonly Group[]): Group[] =>
  groups.filter((group) => limitsOf(limits, group)?.concurrency !== undefined);

/** Counts the targets of a plan by client and tag, as far as their number is limited. */
export class GroupCounts {
  private readonly counts: Map<string, number>;
  private changed = new Set<string>();

  constructor(
    private readonly limits: Limits,
    earlier: Iterable<readonly [group: string, count: number]> = [],
  ) {
    this.counts = new Map(earlier);
  }

  /** The counts that have changed since the last call. */
  changes(): [group: string, count: number][] {
    const { changed } = this;
    this.changed = new Set();
    return [...changed].map((group) => [group, this.counts.get(group) ?? 0]);
  }

  /** Counts a target; gives the message when one of its groups has too many now. */
  add(groups: readonly Group[] = []): string | undefined {
    for (const group of groups) {
      const most = limitsOf(this.limits, group)?.maxTargets;
      if (most === undefined) continue;
      const key = `${group.kind} ${group.id}`;
      const count = (this.counts.get(key) ?? 0) + 1;
      this.counts.set(key, count);
      this.changed.add(key);
      if (count > most)
        return `The plan has more than ${most} targets with ${group.label} (limits.per_${group.kind}.max_targets).`;
    }
    return undefined;
  }
}
