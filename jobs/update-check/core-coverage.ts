/**
 * Which sites have an outdated or vulnerable core, and which auto update schedules update it (spec 2.8, 2.17).
 * The service does not show whether plugins and themes of a site are outdated, so they are not checked.
 */
import type { Item } from '../../src/contract/operations.ts';
import type { JobApi } from '../../src/job/api.ts';
import { problemWith } from '../../src/job/problem.ts';
import type { UpdateSchedule } from './history.ts';
import type { MaxAgeOf } from './thresholds.ts';

/** The facts about a site's core. */
export interface SiteCore {
  id: string;
  url: string;
  connected: boolean;
  current: string;
  latest: string;
  updateAvailable: boolean;
  locked: boolean;
  /** A needed field that neither list nor single view shows: then nothing is known about the site. */
  notShown?: string;
  /** How long a problem of it may last (`thresholds`); absent when none applies. */
  maxAge?: number;
  /** Which threshold applies is not known: a condition lacks a field. */
  unclear?: true;
}

export interface SiteCores {
  sites: Map<string, SiteCore>;
  /** Whether a core version is vulnerable. Has no entry for a version for which the service does not show it. */
  vulnerable: ReadonlyMap<string, boolean>;
}

/** A site whose core is vulnerable, or outdated without a schedule to update it, or for which that is unknown. */
export interface FoundSite {
  site: SiteCore;
  vulnerable: boolean;
  uncovered: boolean;
  /** The field that the service does not show; absent when everything is known. */
  notShown?: string;
  /** The active schedules that update its core. */
  covering: UpdateSchedule[];
  /** Why other schedules of the site do not update its core: `"Shops" does not update the core`. */
  others: string[];
}

/** The most versions that are looked up, the most frequent first. */
const MAX_VERSIONS = 50;
/** The most sites of one version that are read until one shows whether the version is vulnerable. */
const MAX_SITES_PER_VERSION = 3;
/** The most single views that are read because the list does not show a needed field of a core. */
const MAX_SINGLE_VIEWS = 100;

/**
 * Reads the cores of all sites, one request per 100. Only the single view of a site shows whether its core is
 * vulnerable. So one site is read for each version that has an update, and its answer applies to all sites
 * with that version. A site whose list entry lacks a needed field is read from its single view too.
 */
export async function readCores(
  { api, all }: Pick<JobApi, 'api' | 'all'>,
  maxAgeOf: MaxAgeOf,
): Promise<SiteCores> {
  const sites = new Map<string, SiteCore>();
  const coreOf = (site: Item<'listSites'>) => ({ ...coreFactsOf(site), ...ageLimitOf(maxAgeOf(site)) });
  for await (const site of all('listSites', {})) sites.set(site.id, coreOf(site));
  const unclear = [...sites.values()].filter(
    ({ notShown, unclear, updateAvailable }) => notShown !== undefined || (unclear && updateAvailable),
  );
  for (const { id } of unclear.slice(0, MAX_SINGLE_VIEWS)) {
    const site = await showSite({ api }, id);
    if (site) sites.set(id, coreOf(site as Item<'listSites'>));
    else sites.delete(id);
  }
  const byVersion = new Map<string, string[]>();
  for (const { id, current, updateAvailable } of sites.values()) {
    if (updateAvailable) byVersion.set(current, [...(byVersion.get(current) ?? []), id]);
  }
  const vulnerable = new Map<string, boolean>();
  const versions = [...byVersion].sort(([, a], [, b]) => b.length - a.length).slice(0, MAX_VERSIONS);
  for (const [version, ids] of versions) {
    const is = await isVulnerable({ api }, ids.slice(0, MAX_SITES_PER_VERSION));
    if (is !== undefined) vulnerable.set(version, is);
  }
  return { sites, vulnerable };
}

const ageLimitOf = (maxAge: ReturnType<MaxAgeOf>): Pick<SiteCore, 'maxAge' | 'unclear'> =>
  maxAge === 'not-shown' ? { unclear: true } : maxAge === undefined ? {} : { maxAge };

function coreFactsOf({
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
    latest: latest ?? 'not shown',
    updateAvailable: update_available === true,
    locked: locked === true,
    ...(notShown === undefined ? {} : { notShown }),
  };
}

/** A site from its single view; `undefined` when it has left the account. */
async function showSite({ api }: Pick<JobApi, 'api'>, site_id: string) {
  try {
    return (await api.showSite({ site_id })).site;
  } catch (error) {
    if (!problemWith(error).gone) throw error;
    return undefined;
  }
}

/** Whether the core of these sites is vulnerable, by the first that shows it; `undefined` when none does. */
async function isVulnerable(
  { api }: Pick<JobApi, 'api'>,
  ids: readonly string[],
): Promise<boolean | undefined> {
  for (const id of ids) {
    const is = (await showSite({ api }, id))?.wp?.core?.vulnerable;
    if (is !== undefined) return is;
  }
  return undefined;
}

/** What a schedule covers. A value is `undefined` when the service does not show it. */
interface Scope {
  schedule: UpdateSchedule;
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

/** The sites with something to report. */
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
      const found = checkSite(site, vulnerable.get(site.current), scopes);
      if (found.vulnerable || found.uncovered || found.notShown !== undefined) yield found;
    }
  }
}

/** Checks a site whose core has an update. */
function checkSite(site: SiteCore, vulnerable: boolean | undefined, scopes: readonly Scope[]): FoundSite {
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
    // A person who locked a core wants to keep its version.
    uncovered: !mayCover && !site.locked,
    ...(notShown === undefined ? {} : { notShown }),
    covering: covering.map(({ schedule }) => schedule),
    others: own
      .filter((one) => !covering.includes(one) && one !== mayCover)
      .map(({ schedule: { name, id }, isActive }) =>
        isActive === false ? `"${name ?? id}" is paused` : `"${name ?? id}" does not update the core`,
      ),
  };
}
