/** Tags as options of jobs name them: by name, whatever the case, or by id. */
import type { JobApi } from '../../src/job/api.ts';
import { shown } from '../../src/job/shown.ts';

interface Tag {
  id: string;
  name?: string | undefined;
}

/** What an account has of the tags that options name. */
export interface KnownTags {
  /** Those wanted that are no tag of the account. */
  missing: readonly string[];
  /** The names of the account's tags, by id. */
  names: ReadonlyMap<string, string>;
}

const isCalled = ({ id, name }: Tag, wanted: string): boolean =>
  id === wanted || name?.toLowerCase() === wanted.toLowerCase();

/**
 * The first of `wanted` that one of these tags is.
 *
 * @throws {NotShownError} when none is, and the name of one of them is shown neither here nor by the
 * account's tags.
 */
export function firstTag(
  wanted: readonly string[],
  tags: readonly Tag[],
  { names }: Pick<KnownTags, 'names'>,
): string | undefined {
  const named = tags.map(({ id, name }) => ({ id, name: name ?? names.get(id) }));
  const found = wanted.find((one) => named.some((tag) => isCalled(tag, one)));
  if (found === undefined && wanted.length > 0) for (const { name } of named) shown(name, 'site.tags.name');
  return found;
}

/**
 * Looks up `wanted` among the tags of the account. None wanted costs nothing, else one request per 100 tags.
 */
export async function knownTags({ all }: Pick<JobApi, 'all'>, wanted: readonly string[]): Promise<KnownTags> {
  let missing = [...wanted];
  const names = new Map<string, string>();
  if (missing.length === 0) return { missing, names };
  for await (const tag of all('listTags', {})) {
    missing = missing.filter((one) => !isCalled(tag, one));
    if (tag.name !== undefined) names.set(tag.id, tag.name);
  }
  return { missing, names };
}
