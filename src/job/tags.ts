/** Tags as options of jobs name them: by name, whatever the case, or by id. */
import type { Reading } from './job.ts';

/** The first of `wanted` that one of these tags is. */
export const firstTag = (
  wanted: readonly string[],
  tags: readonly { id: string; name?: string | undefined }[],
): string | undefined =>
  wanted.find((one) => tags.some(({ id, name }) => id === one || name?.toLowerCase() === one.toLowerCase()));

/** Those of `wanted` that are no tag of the account. None wanted costs nothing, else one request per 100 tags. */
export async function missingTags(
  { all }: Pick<Reading, 'all'>,
  wanted: readonly string[],
): Promise<string[]> {
  let missing = [...wanted];
  if (missing.length === 0) return [];
  for await (const tag of all('listTags', {})) {
    missing = missing.filter((one) => firstTag([one], [tag]) === undefined);
  }
  return missing;
}
