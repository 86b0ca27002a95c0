/**
 * Which sites' cores are behind or vulnerable, and which auto update schedule updates them (spec 2.8, 2.17). Of plugins and
 * themes the service's sites say nothing, so they are not judged.
 */
import type { Item } from '../contract/operations.ts';
import type { Reading } from './job.ts';
import { problemWith } from './problem.ts';
import type { UpdateSchedule } from './update-history.ts';

/** What one has to know of a site here. */
export interface SiteCore {
  id: string;
  url: string;
  connected: boolean;
  current: string;
  latest: string;
  updateAvailable: boolean;
  locked: boolean;
}

export interface SiteCores {
  sites: Map<string, SiteCore>;
  /** The core versions that the service calls vulnerable. */
  vulnerable: ReadonlySet<string>;
}

/** A site whose core is vulnerable, or is behind with nobody to update it. */
export interface FoundSite {
  site: SiteCore;
  vulnerable: boolean;
  uncovered: boolean;
  /** The active schedules that update its core. */
  covering: UpdateSchedule[];
  /** Why the other schedules that are for the site do not: `"Shops" leaves the core alone`. */
  others: string[];
}

/** So many different versions are asked about, the most frequent first. */
const MOST_VERSIONS = 50;
/** Sites of one version that are asked until one can be shown. */
const TRIES = 3;

/**
 * Reads the cores of all sites, one request per 100. Only a site shown alone says whether its core is vulnerable, so one
 * site is asked for each version that has an update, and answers for all sites of that version.
 */
export async function readCores({ api, all }: Pick<Reading, 'api' | 'all'>): Promise<SiteCores> {
  const sites = new Map<string, SiteCore>();
  for await (const site of all('listSites', {})) sites.set(site.id, coreOf(site));
  const byVersion = new Map<string, string[]>();
  for (const { id, current, updateAvailable } of sites.values()) {
    if (updateAvailable) byVersion.set(current, [...(byVersion.get(current) ?? []), id]);
  }
  const vulnerable = new Set<string>();
  const asked = [...byVersion].sort(([, a], [, b]) => b.length - a.length).slice(0, MOST_VERSIONS);
  for (const [version, ids] of asked) {
    if (await isVulnerable({ api }, ids.slice(0, TRIES))) vulnerable.add(version);
  }
  return { sites, vulnerable };
}

const coreOf = ({ id, url, connection, wp }: Item<'listSites'>): SiteCore => ({
  id,
  url,
  connected: connection?.status !== 'disconnected',
  current: wp?.core?.current_version ?? '?',
  latest: wp?.core?.latest_version ?? '?',
  updateAvailable: wp?.core?.update_available === true,
  locked: wp?.core?.locked === true,
});

async function isVulnerable({ api }: Pick<Reading, 'api'>, ids: readonly string[]): Promise<boolean> {
  for (const site_id of ids) {
    try {
      return (await api.showSite({ site_id })).site.wp?.core?.vulnerable === true;
    } catch (error) {
      // It left the account since it was listed: another site of the version knows as well.
      if (!problemWith(error).gone) throw error;
    }
  }
  return false;
}

/** Goes through the sites of which there is something to tell. */
export function* findSites(
  { sites, vulnerable }: SiteCores,
  schedules: readonly { schedule: UpdateSchedule; isActive: boolean }[],
): Generator<FoundSite> {
  const scopes = schedules.map(({ schedule, isActive }) => ({
    schedule,
    isActive,
    ids: new Set(schedule.scope?.sites?.ids),
    isForAll: schedule.scope?.sites?.selection === 'all',
    updatesCore: schedule.scope?.updates?.wordpress_core === true,
  }));
  for (const site of sites.values()) {
    if (!site.updateAvailable) continue;
    const own = scopes.filter(({ isForAll, ids }) => isForAll || ids.has(site.id));
    const covering = own.filter(({ isActive, updatesCore }) => isActive && updatesCore);
    const found = {
      vulnerable: vulnerable.has(site.current),
      // A core that somebody locked is meant to stay as it is.
      uncovered: covering.length === 0 && !site.locked,
    };
    if (!found.vulnerable && !found.uncovered) continue;
    yield {
      site,
      ...found,
      covering: covering.map(({ schedule }) => schedule),
      others: own
        .filter((one) => !covering.includes(one))
        .map(({ schedule: { name, id }, isActive }) =>
          isActive ? `"${name ?? id}" leaves the core alone` : `"${name ?? id}" is paused`,
        ),
    };
  }
}
