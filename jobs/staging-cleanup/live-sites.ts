/** The live sites that staging copies were made of. */

import type { Item } from '../../src/contract/operations.ts';
import type { Api, JobApi } from '../../src/job/api.ts';
import { fieldsOfItem } from '../../src/job/fields.ts';
import { problemWith } from '../../src/job/problem.ts';
import { completed } from '../../src/job/shown.ts';

type Site = Item<'listSites'>;

/** The most single views that are read because the list does not show the tags of a site. */
const MAX_SINGLE_VIEWS = 100;

/**
 * The live sites of these copies, by id. Costs one request per 100 sites until each is found; with `withTags`,
 * one more for each site (at most 100) whose tags the list does not show.
 */
export async function liveSitesOf(
  { all, api }: Pick<JobApi, 'all' | 'api'>,
  copies: readonly { site_id?: string | undefined }[],
  withTags: boolean,
): Promise<Map<string, Site>> {
  const wanted = new Set(copies.flatMap(({ site_id }) => site_id ?? []));
  const sites = new Map<string, Site>();
  if (wanted.size === 0) return sites;
  for await (const site of all('listSites', {})) {
    if (wanted.delete(site.id)) sites.set(site.id, site);
    if (wanted.size === 0) break;
  }
  const tagsNotShown = withTags ? [...sites.values()].filter(({ tags }) => tags === undefined) : [];
  for (const site of tagsNotShown.slice(0, MAX_SINGLE_VIEWS)) sites.set(site.id, await showSite(api, site));
  return sites;
}

/** A site completed from its single view; unchanged when it has left the account. One request. */
async function showSite(api: Api, site: Site): Promise<Site> {
  try {
    const single = (await api.showSite({ site_id: site.id })).site;
    return completed(fieldsOfItem('listSites'), site, single) as Site;
  } catch (error) {
    if (!problemWith(error).gone) throw error;
    return site;
  }
}
