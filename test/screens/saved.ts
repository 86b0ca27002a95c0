/** Keeps the content of a Redis in a file, so that the history is made once and not before each look. */
import { readFileSync, writeFileSync } from 'node:fs';
import { deserialize, serialize } from 'node:v8';
import { Redis } from 'ioredis';
import type { TestRedis } from '../support/redis.ts';

/** A key as Redis dumps it, and how long it is still kept; 0: without an end. */
type SavedKey = readonly [key: Buffer, ttlMs: number, value: Buffer];

async function withStore<T>({ options }: TestRedis, use: (store: Redis) => Promise<T>): Promise<T> {
  const store = new Redis(options);
  try {
    return await use(store);
  } finally {
    store.disconnect();
  }
}

export const save = (redis: TestRedis, file: string): Promise<void> =>
  withStore(redis, async (store) => {
    const saved: SavedKey[] = [];
    let cursor = '0';
    do {
      const [next, page] = await store.scanBuffer(cursor, 'COUNT', 500);
      for (const key of page) {
        const [ttl, value] = await Promise.all([store.pttl(key), store.dumpBuffer(key)]);
        if (value) saved.push([key, Math.max(ttl, 0), value]);
      }
      cursor = next.toString();
    } while (cursor !== '0');
    writeFileSync(file, serialize(saved));
  });

export const restore = (redis: TestRedis, file: string): Promise<void> =>
  withStore(redis, async (store) => {
    const saved = deserialize(readFileSync(file)) as SavedKey[];
    for (const [key, ttl, value] of saved) await store.restore(key, ttl, value, 'REPLACE');
  });
