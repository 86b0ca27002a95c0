/** Which runs are listed, and how their ids are found in the indexes. */
import type { Store } from '../redis/store.ts';
import type { RunStatus } from '../run/run.ts';
import { keys } from './keys.ts';

export interface RunQuery {
  policy?: string;
  status?: RunStatus;
  /** Only runs created at or after this time. */
  since?: number;
  /** Only runs created before this time: the next page of a list. */
  before?: number;
  /** The maximum number of runs, newest first. */
  limit: number;
}

/** How many ids are read in one command. */
const PAGE = 500;

/**
 * The ids that match, newest first, by the page. With a policy and a status, the ids of the index with fewer runs are
 * looked up in the other one, so that runs that do not match are not read.
 */
export async function* idsOf(
  store: Store,
  { policy, status, since, before, limit }: RunQuery,
): AsyncGenerator<string[]> {
  const indexes = [
    ...(policy === undefined ? [] : [keys.runsOfPolicy(policy)]),
    ...(status === undefined ? [] : [keys.runsInStatus(status)]),
  ];
  const [index = keys.runs, other] = indexes.length < 2 ? indexes : await smallerFirst(store, indexes);
  const page = other === undefined ? Math.min(limit, PAGE) : PAGE;
  for (let offset = 0; ; offset += page) {
    const ids = await store.zrange(
      index,
      before === undefined ? '+inf' : `(${before}`,
      String(since ?? '-inf'),
      'BYSCORE',
      'REV',
      'LIMIT',
      offset,
      page,
    );
    if (other === undefined || ids.length === 0) yield ids;
    else {
      const scores = await store.zmscore(other, ...ids);
      yield ids.filter((_, at) => scores[at] !== null);
    }
    if (ids.length < page) return;
  }
}

async function smallerFirst(store: Store, indexes: readonly string[]): Promise<string[]> {
  const sizes = await Promise.all(indexes.map((index) => store.zcard(index)));
  const sized = indexes.map((index, at) => ({ index, size: sizes[at] ?? 0 }));
  return sized.sort((a, b) => a.size - b.size).map(({ index }) => index);
}

/** Of the newest runs, so many pages of ids are searched, some of them in one round trip. */
const SEARCHED = { page: 250, pages: 80, together: 16 };

/**
 * The ids with this text in them, newest first. Reading the ids in their order costs Redis a tenth of matching each of
 * them with a pattern.
 */
export async function idsContaining(store: Store, part: string, limit: number): Promise<string[]> {
  const { page, pages, together } = SEARCHED;
  const found = new Set<string>();
  for (let first = 0; first < pages && found.size < limit; first += together) {
    const reads = store.pipeline();
    for (let at = first; at < first + together; at += 1)
      reads.zrange(keys.runs, String(at * page), String((at + 1) * page - 1), 'REV');
    const answers = (await reads.exec()) ?? [];
    for (const [error, ids] of answers) {
      if (error) throw error;
      for (const id of ids as string[]) if (id.includes(part)) found.add(id);
    }
    if ((answers.at(-1)?.[1] as string[] | undefined)?.length !== page) break;
  }
  return [...found].slice(0, limit);
}
