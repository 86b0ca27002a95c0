/**
 * Reads all records for a backup, while work goes on.
 *
 * All keys of a run are read at the same time. The ends of runs are read before the runs, and everything else after
 * them: what keeps work from being done twice, such as the keys of `once` and the owners of effects, is never
 * older than a run that relies on it. At most one run, or a page of other keys, is in memory.
 */
import type { Clock } from '../../clock.ts';
import type { Store } from '../../redis/store.ts';
import { keys, keysOfRun } from '../keys.ts';
import type { Entry } from './backup-file.ts';
import { endsKeys, otherKeys } from './kept-keys.ts';

const PAGE = 100;

export async function* readRecords(store: Store, clock: Pick<Clock, 'now'>): AsyncGenerator<Entry> {
  yield* inPages(store, clock, endsKeys(store));
  let cursor = '0';
  do {
    const [next, flat] = await store.zscan(keys.runs, cursor, 'COUNT', PAGE);
    for (const [at, id] of flat.entries())
      if (at % 2 === 0) yield* await dump(store, clock, Object.values(keysOfRun(id)));
    cursor = next;
  } while (cursor !== '0');
  yield* inPages(store, clock, otherKeys(store));
}

async function* inPages(
  store: Store,
  clock: Pick<Clock, 'now'>,
  found: AsyncIterable<string>,
): AsyncGenerator<Entry> {
  let page: string[] = [];
  for await (const key of found) {
    page.push(key);
    if (page.length < PAGE) continue;
    yield* await dump(store, clock, page);
    page = [];
  }
  yield* await dump(store, clock, page);
}

/** Those of the keys that exist, all read at the same time. */
async function dump(store: Store, clock: Pick<Clock, 'now'>, page: readonly string[]): Promise<Entry[]> {
  if (page.length === 0) return [];
  const reads = store.multi();
  for (const key of page) reads.dumpBuffer(key).pttl(key);
  const answers = (await reads.exec()) ?? [];
  const now = clock.now();
  return page.flatMap((key, at): Entry[] => {
    const [[dumpError, value], [, ttl]] = [answers[at * 2] ?? [], answers[at * 2 + 1] ?? []];
    if (dumpError) throw dumpError;
    if (!Buffer.isBuffer(value)) return [];
    const expires = typeof ttl === 'number' && ttl > 0 ? { expires_at: now + ttl } : {};
    return [{ key, ...expires, value: value.toString('base64') }];
  });
}
