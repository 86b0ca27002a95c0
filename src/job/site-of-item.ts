/** The site that an item is or belongs to: there it is written what was done (`record:`). */
import type { Item } from '../contract/operations.ts';
import { type CandidateList, type CandidateSource, isList } from './candidates.ts';
import type { Source } from './source.ts';

type From = Pick<Source, 'from' | 'parent'>;

type SiteOf = { readonly [List in CandidateList]?: (item: Item<List>) => string | undefined };

const lists: SiteOf = {
  listSites: ({ id }) => id,
  listStagingSites: ({ site_id }) => site_id,
  listReports: ({ site }) => site?.id,
  listScheduledReports: ({ site }) => site?.id,
};

const siteOf = (from: CandidateSource) => (isList(from) ? lists[from] : undefined);

/** Whether the candidates of a source are sites, or belong to one. */
export const haveSite = ({ from, parent }: From): boolean =>
  parent ? parent.list === 'listSites' : siteOf(from) !== undefined;

/** The site of an item; undefined when it has none, or does not show it. `parent`: the item of `for_each`. */
export function siteOfItem(source: From, item: unknown, parent: string | undefined): string | undefined {
  if (source.parent) return haveSite(source) ? parent : undefined;
  return siteOf(source.from)?.(item as never);
}
