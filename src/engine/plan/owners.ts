/**
 * The client and the tags of a target: those of its site, or its own. They decide which freezes and which
 * limits of a client or a tag hold for it.
 *
 * A site names its client and tags (spec 2.17). A report names its site and its client, a staging site and a
 * scheduled report only the site. Tasks and update schedules do not show their sites. What belongs to no site
 * (a template, a sender address) has neither client nor tags.
 */
import { allItems } from '../../client/pages.ts';
import { type CandidateList, isList } from '../../job/candidates.ts';
import { candidatesOf } from '../../job/source.ts';
import type { Parent } from './listing.ts';
import { callOptionsOf, type Planning } from './planning.ts';
import type { Complete } from './single-views.ts';

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
