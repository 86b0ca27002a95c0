/** Which runs are listed, and how their ids are found in the indexes. */
import type { Store } from '../redis/store.ts';
import type { Run, RunStatus } from '../run/run.ts';
import type { OneOrSome } from './filter-values.ts';
import { keys } from './keys.ts';

/** A place in a list: the run after which it continues. */
export interface RunPlace {
  createdAt: number;
  id: string;
}

export interface RunQuery {
  policy?: OneOrSome<string>;
  status?: OneOrSome<RunStatus>;
  /** Only runs created at or after this time. */
  since?: number | undefined;
  /** Only runs created before this time. */
  until?: number | undefined;
  /** Only runs that are listed after this one: the next page of a list. */
  after?: RunPlace | undefined;
  /** Only runs that a person may see. */
  sees?: ((run: Run) => boolean) | undefined;
  /** The maximum number of runs, newest first. */
  limit: number;
}

/** How many ids are read in one command. */
const PAGE = 500;

/**
 * The places of at most `limit` runs, newest first, runs of one time by id. Short only at the end of the list. A run is
 * there whose status has changed since.
 */
export async function placesOf(store: Store, query: RunQuery): Promise<RunPlace[]> {
  const indexes = some(query.policy, keys.runsOfPolicy).flatMap((ofPolicy) =>
    some(query.status, keys.runsInStatus).map((inStatus) => [...ofPolicy, ...inStatus]),
  );
  const lists = await Promise.all(indexes.map((one) => placesIn(store, one, query)));
  const found = new Map(lists.flat().map((place) => [place.id, place]));
  return [...found.values()].sort(newestFirst).slice(0, query.limit);
}

const some = <T extends string>(wanted: OneOrSome<T>, keyOf: (one: T) => string): string[][] =>
  wanted === undefined ? [[]] : [...new Set([wanted].flat() as T[])].map((one) => [keyOf(one)]);

/** As Redis orders members of one score, from the last to the first. Ids are ASCII. */
const newestFirst = (a: RunPlace, b: RunPlace): number =>
  b.createdAt - a.createdAt || (a.id < b.id ? 1 : a.id > b.id ? -1 : 0);

/**
 * With a policy and a status, the ids of the index with fewer runs are looked up in the other one, so that runs that do
 * not match are not read.
 */
async function placesIn(
  store: Store,
  indexes: readonly string[],
  { since = Number.NEGATIVE_INFINITY, until = Number.POSITIVE_INFINITY, after, limit }: RunQuery,
): Promise<RunPlace[]> {
  const [index = keys.runs, other] = indexes.length < 2 ? indexes : await smallerFirst(store, indexes);
  const page = other === undefined ? Math.min(limit + 1, PAGE) : PAGE;
  const newest = after && after.createdAt < until ? after.createdAt : undefined;
  const max = newest === undefined ? (Number.isFinite(until) ? `(${until}` : '+inf') : String(newest);
  const min = Number.isFinite(since) ? String(since) : '-inf';
  const found: RunPlace[] = [];
  for (let offset = 0; found.length < limit; offset += page) {
    const flat = await store.zrange(
      ...([index, max, min, 'BYSCORE', 'REV', 'LIMIT', offset, page, 'WITHSCORES'] as const),
    );
    const places = flat.flatMap((id, at) => (at % 2 === 0 ? { id, createdAt: Number(flat[at + 1]) } : []));
    const older = after ? places.filter((place) => newestFirst(after, place) < 0) : places;
    if (other === undefined || older.length === 0) found.push(...older);
    else {
      const scores = await store.zmscore(other, ...older.map(({ id }) => id));
      found.push(...older.filter((_, at) => scores[at] !== null));
    }
    if (places.length < page) break;
  }
  return found.slice(0, limit);
}

async function smallerFirst(store: Store, indexes: readonly string[]): Promise<string[]> {
  const sizes = await Promise.all(indexes.map((index) => store.zcard(index)));
  const sized = indexes.map((index, at) => ({ index, size: sizes[at] ?? 0 }));
  return sized.sort((a, b) => a.size - b.size).map(({ index }) => index);
}

/** Of the newest runs, this many pages of ids are searched, some of them in one round trip. */
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
