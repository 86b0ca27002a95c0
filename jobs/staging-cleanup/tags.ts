/** Tags in the options of the job, by their ids. */
import type { JobApi } from '../../src/job/api.ts';

/** The account's tags, compared with those that the options name. */
export interface AccountTags {
  /** The ids of wanted tags that the account does not have. */
  missing: readonly string[];
  /** The names of the account's tags, by id. */
  names: ReadonlyMap<string, string>;
}

/** The first of `wanted` that is among `tags`. */
export const firstTag = (wanted: readonly string[], tags: readonly { id: string }[]): string | undefined =>
  wanted.find((one) => tags.some(({ id }) => id === one));

/** A tag as people know it. */
export const tagName = (id: string, { names }: Pick<AccountTags, 'names'>): string => names.get(id) ?? id;

/** Looks up `wanted` in the tags of the account. Costs one request per 100 tags, or none if nothing is wanted. */
export async function lookUpTags(
  { all }: Pick<JobApi, 'all'>,
  wanted: readonly string[],
): Promise<AccountTags> {
  const names = new Map<string, string>();
  if (wanted.length === 0) return { missing: [], names };
  for await (const { id, name } of all('listTags', {})) names.set(id, name);
  return { missing: wanted.filter((id) => !names.has(id)), names };
}
