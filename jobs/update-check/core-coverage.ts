/**
 * Which sites' cores are behind or vulnerable, and which auto update schedule updates them (spec 2.8, 2.17).
 * Of plugins and themes the service's sites say nothing, so they are not judged.
 */
import type { Item } from '../../src/contract/operations.ts';
import type { JobApi } from '../../src/job/api.ts';
import { problemWith } from '../../src/job/problem.ts';
import type { UpdateSchedule } from './history.ts';

/** What one has to know of a site here. */
export interface SiteCore {
  id: string;
  url: string;
  connected: boolean;
  current: string;
  latest: string;
  updateAvailable: boolean;
  locked: boolean;
  /** The field that no view shows, so that nothing can be said of the site. */
  notShown?: string;
}

export interface SiteCores {
  sites: Map<string, SiteCore>;
  /** Whether a core version is vulnerable; nothing for one of which the service does not show it. */
  vulnerable: ReadonlyMap<string, boolean>;
}

/**
 * A site whose core is vulnerable, or is behind with nobody to update it, or of which that cannot be told.
 */
export interface FoundSite {
  site: SiteCore;
  vulnerable: boolean;
  uncovered: boolean;
  /** What the service does not show of it; nothing where all is known. */
  notShown?: string;
  /** The active schedules that update its core. */
  covering: UpdateSchedule[];
  /** Why the other schedules that are for the site do not: `"Shops" leaves the core alone`. */
  others: string[];
}

/** So many different versions are asked about, the most frequent first. */
const MAX_VERSIONS = 50;
/** Sites of one version that are asked until one can be shown. */
const TRIES = 3;
/** So many sites are asked for alone because the list does not show enough of their cores. */
const MAX_SINGLE_VIEWS = 100;

/**
 * Reads the cores of all sites, one request per 100. Only a site shown alone says whether its core is
 * vulnerable, so one site is asked for each version that has an update, and answers for all sites of that
 * version. A site of which the list does not show enough is asked for alone.
 */
export async function readCores({ api, all }: Pick<JobApi, 'api' | 'all'>): Promise<SiteCores> {
  const sites = new Map<string, SiteCore>();
  for await (const site of all('listSites', {})) sites.set(site.id, coreOf(site));
  const unclear = [...sites.values()].filter(({ notShown }) => notShown !== undefined);
  for (const { id } of unclear.slice(0, MAX_SINGLE_VIEWS)) {
    const site = await siteAlone({ api }, id);
    if (site) sites.set(id, coreOf(site));
    else sites.delete(id);
  }
  const byVersion = new Map<string, string[]>();
  for (const { id, current, updateAvailable } of sites.values()) {
    if (updateAvailable) byVersion.set(current, [...(byVersion.get(current) ?? []), id]);
  }
  const vulnerable = new Map<string, boolean>();
  const asked = [...byVersion].sort(([, a], [, b]) => b.length - a.length).slice(0, MAX_VERSIONS);
  for (const [version, ids] of asked) {
    const is = await isVulnerable({ api }, ids.slice(0, TRIES));
    if (is !== undefined) vulnerable.set(version, is);
  }
  return { sites, vulnerable };
}

function coreOf({
  id,
  url,
  connection,
  wp,
}: Pick<Item<'listSites'>, 'id' | 'url' | 'connection' | 'wp'>): SiteCore {
  const { current_version: current, latest_version: latest, update_available, locked } = wp?.core ?? {};
  const notShown =
    update_available === undefined
      ? 'site.wp.core.update_available'
      : update_available && current === undefined
        ? 'site.wp.core.current_version'
        : undefined;
  return {
    id,
    url,
    connected: connection?.status !== 'disconnected',
    current: current ?? '?',
    latest: latest ?? 'a newer one',
    updateAvailable: update_available === true,
    locked: locked === true,
    ...(notShown === undefined ? {} : { notShown }),
  };
}

/** A site shown alone; nothing when it has left the account. */
async function siteAlone({ api }: Pick<JobApi, 'api'>, site_id: string) {
  try {
    return (await api.showSite({ site_id })).site;
  } catch (error) {
    if (!problemWith(error).gone) throw error;
    return undefined;
  }
}

/** What the first of some sites that shows it says; nothing when none does. */
async function isVulnerable(
  { api }: Pick<JobApi, 'api'>,
  ids: readonly string[],
): Promise<boolean | undefined> {
  for (const id of ids) {
    const is = (await siteAlone({ api }, id))?.wp?.core?.vulnerable;
    if (is !== undefined) return is;
  }
  return undefined;
}

/**
 * Whether a schedule is for a site, and whether it updates cores; nothing where the service does not show it.
 */
interface Scope {
  schedule: UpdateSchedule;
  /** Nothing where the service does not show its status. */
  isActive: boolean | undefined;
  isFor(site: string): boolean | undefined;
  updatesCore: boolean | undefined;
}

function scopeOf({ schedule, isActive }: Pick<Scope, 'schedule' | 'isActive'>): Scope {
  const { sites, updates } = schedule.scope ?? {};
  const ids = sites?.ids && new Set(sites.ids);
  return {
    schedule,
    isActive,
    isFor: (site) => (sites?.selection === 'all' ? true : ids?.has(site)),
    updatesCore: updates?.wordpress_core,
  };
}

/** Goes through the sites of which there is something to tell. */
export function* findSites(
  { sites, vulnerable }: SiteCores,
  schedules: readonly Pick<Scope, 'schedule' | 'isActive'>[],
): Generator<FoundSite> {
  const scopes = schedules.map(scopeOf);
  for (const site of sites.values()) {
    if (site.notShown !== undefined) {
      const unknown = { vulnerable: false, uncovered: false, covering: [], others: [] };
      yield { site, ...unknown, notShown: site.notShown };
    } else if (site.updateAvailable) {
      const found = findAbout(site, vulnerable.get(site.current), scopes);
      if (found.vulnerable || found.uncovered || found.notShown !== undefined) yield found;
    }
  }
}

/** What there is to tell of a site whose core is behind. */
function findAbout(site: SiteCore, vulnerable: boolean | undefined, scopes: readonly Scope[]): FoundSite {
  const own = scopes.filter(({ isFor }) => isFor(site.id) === true);
  const covering = own.filter(({ isActive, updatesCore }) => isActive && updatesCore === true);
  const mayCover = scopes.find(
    ({ isActive, isFor, updatesCore }) =>
      isActive !== false && isFor(site.id) !== false && updatesCore !== false,
  );
  const notShown =
    vulnerable === undefined
      ? 'site.wp.core.vulnerable'
      : covering.length === 0 && mayCover && !site.locked
        ? `the ${mayCover.isActive === undefined ? 'status' : 'scope'} of "${mayCover.schedule.name ?? mayCover.schedule.id}"`
        : undefined;
  return {
    site,
    vulnerable: vulnerable === true,
    // A core that somebody locked is meant to stay as it is.
    uncovered: !mayCover && !site.locked,
    ...(notShown === undefined ? {} : { notShown }),
    covering: covering.map(({ schedule }) => schedule),
    others: own
      .filter((one) => !covering.includes(one) && one !== mayCover)
      .map(({ schedule: { name, id }, isActive }) =>
        isActive === false ? `"${name ?? id}" is paused` : `"${name ?? id}" leaves the core alone`,
      ),
  };
}
