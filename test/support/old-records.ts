/**
 * Records as an earlier commit of Caretaker wrote them: `test/records/fixtures/README.md` describes how they
 * were made.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Store } from '../../src/redis/store.ts';

type Entry = { key: string; ttl?: number } & (
  | { type: 'string'; value: string }
  | { type: 'hash'; value: Record<string, string> }
  | { type: 'list' | 'set' | 'zset'; value: string[] }
);

export interface OldRecords {
  commit: string;
  /** When they were saved, by the clock of the processes that wrote them. */
  at: number;
  /** How many sites the account had. */
  sites: number;
  runs: { ended: string[]; notes: string; slow: string };
  keys: Entry[];
}

export const recordsOf = (commit: string): OldRecords =>
  JSON.parse(
    readFileSync(join(import.meta.dirname, '../records/fixtures', `${commit}.json`), 'utf8'),
  ) as OldRecords;

/**
 * Writes them into a Redis as they are `laterMs` after they were saved, without those that expire until then.
 */
export async function loadRecords(store: Store, { keys }: OldRecords, laterMs = 0): Promise<void> {
  for (const entry of keys) {
    const { key, ttl } = entry;
    if (ttl !== undefined && ttl <= laterMs) continue;
    await write(store, entry);
    if (ttl !== undefined) await store.pexpire(key, ttl - laterMs);
  }
}

function write(store: Store, { key, ...entry }: Entry): Promise<unknown> {
  switch (entry.type) {
    case 'string':
      return store.set(key, entry.value);
    case 'hash':
      return store.hset(key, entry.value);
    case 'list':
      return store.rpush(key, ...entry.value);
    case 'set':
      return store.sadd(key, ...entry.value);
    case 'zset': {
      const scored = entry.value.flatMap((member, at) =>
        at % 2 === 0 ? [entry.value[at + 1] ?? '', member] : [],
      );
      return store.zadd(key, ...scored);
    }
  }
}
