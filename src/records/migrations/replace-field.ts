import { runScript } from '../../redis/script.ts';
import type { Store } from '../../redis/store.ts';

/** KEYS: hash. ARGV: field, the value as it was read, the new value. */
const REPLACE = `
if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
return 1`;

/**
 * Rewrites the field of a hash whose value was read as `read`. A value that another process has written since is
 * read and rewritten again: it must never be replaced by an older one. A field that is gone stays gone.
 */
export async function replaceField(
  store: Store,
  { hash, field, read }: { hash: string; field: string; read: string },
  rewrite: (value: string) => string,
): Promise<void> {
  for (let former: string | null = read; former !== null; former = await store.hget(hash, field)) {
    const value = rewrite(former);
    if (value === former) return;
    if ((await runScript(store, REPLACE, [hash], [field, former, value])) === 1) return;
  }
}
