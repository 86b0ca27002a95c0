/** Tags in the options of a job: by name, with upper or lower case, or by id. */
import type { JobApi } from '../../src/job/api.ts';
import { shown } from '../../src/job/shown.ts';

interface Tag {
  id: string;
  name?: string | undefined;
}

/** The account's tags, compared with those that the options name. */
export interface AccountTags {
  /** The wanted tags that the account does not have. */
  missing: readonly string[];
  /** The names of the account's tags, by id. */
  names: ReadonlyMap<string, string>;
}

const matches = ({ id, name }: Tag, wanted: string): boolean =>
  id === wanted || name?.toLowerCase() === wanted.toLowerCase();

/**
 * The first of `wanted` that is among `tags`.
 *
 * @throws {NotShownError} when none is, and the name of one of `tags` is shown neither there nor in the list
 * of the account's tags.
 */
export function firstTag(
  wanted: readonly string[],
  tags: readonly Tag[],
  { names }: Pick<AccountTags, 'names'>,
): string | undefined {
  const named = tags.map(({ id, name }) => ({ id, name: name ?? names.get(id) }));
  const found = wanted.find((one) => named.some((tag) => matches(tag, one)));
  if (found === undefined && wanted.length > 0) for (const { name } of named) shown(name, 'site.tags.name');
  return found;
}

/** Looks up `wanted` in the tags of the account. Costs one request per 100 tags, or none if nothing is wanted. */
export async function lookUpTags(
  { all }: Pick<JobApi, 'all'>,
  wanted: readonly string[],
): Promise<AccountTags> {
  let missing = [...wanted];
  const names = new Map<string, string>();
  if (missing.length === 0) return { missing, names };
  for await (const tag of all('listTags', {})) {
    missing = missing.filter((one) => !matches(tag, one));
    if (tag.name !== undefined) names.set(tag.id, tag.name);
  }
  return { missing, names };
}
