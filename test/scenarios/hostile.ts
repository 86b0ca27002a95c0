/** What a service with hostile texts must never lead to: see `hostile-texts.test.ts`. */
import type { Store } from '../../src/redis/store.ts';

/** All control characters except line breaks. */
export const unseen = /(?!\n)[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/u;

const readers: Record<string, (store: Store, key: string) => Promise<unknown>> = {
  string: (store, key) => store.get(key),
  hash: (store, key) => store.hgetall(key),
  list: (store, key) => store.lrange(key, 0, -1),
  set: (store, key) => store.smembers(key),
  zset: (store, key) => store.zrange(key, '0', '-1'),
  stream: (store, key) => store.xrange(key, '-', '+'),
  // It has expired since.
  none: async () => undefined,
};

async function contentOf(store: Store, key: string): Promise<unknown> {
  const type = await store.type(key);
  const read = readers[type];
  if (!read) throw new Error(`What is a ${type}?`);
  return read(store, key);
}

/** Everything that Redis contains: names, and values of all types. */
export async function dumpOf(store: Store): Promise<string> {
  const found = (await store.keys('*')).map(async (key) => [key, await contentOf(store, key)]);
  // Records are JSON in strings: compared as text, without JSON escapes.
  return JSON.stringify(await Promise.all(found)).replaceAll('\\', '');
}
