/** What a service with hostile texts must never lead to: see `hostile-texts.test.ts`. */
import type { Store } from '../../src/redis/store.ts';

/** All control characters except line breaks. */
export const unseen = /(?!\n)[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/u;

/** Everything that Redis contains: names, and values of all types. */
export async function dumpOf(store: Store): Promise<string> {
  const texts: unknown[] = [];
  for (const key of await store.keys('*')) {
    texts.push(key);
    const type = await store.type(key);
    if (type === 'string') texts.push(await store.get(key));
    else if (type === 'hash') texts.push(await store.hgetall(key));
    else if (type === 'list') texts.push(await store.lrange(key, 0, -1));
    else if (type === 'set') texts.push(await store.smembers(key));
    else if (type === 'zset') texts.push(await store.zrange(key, '0', '-1'));
    else if (type === 'stream') texts.push(await store.xrange(key, '-', '+'));
    // `none`: it has expired since.
    else if (type !== 'none') throw new Error(`What is a ${type}?`);
  }
  // Records are JSON in strings: compared as text, without JSON escapes.
  return JSON.stringify(texts).replaceAll('\\', '');
}
