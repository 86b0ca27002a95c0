/** The open announcements of a policy in an account, by their keys: those that are neither closed nor withdrawn. */
import { z } from 'zod';
import type { Store } from '../redis/store.ts';
import { keys } from './keys.ts';
import { parseRecord } from './parse-record.ts';

const KEPT_MS = 100 * 86_400_000;
/** About how many are read at once. */
const PAGE = 500;

const Announcing = z.tuple([z.string(), z.string()]);

export class AnnouncementStore {
  constructor(private readonly store: Store) {}

  /** Adds an announcement with what its job has to know to withdraw it. */
  async add(account: string, policy: string, key: string, facts: string): Promise<void> {
    const name = keys.announcements(account, policy);
    // First the index: an entry without announcements does no harm.
    await this.store.sadd(keys.announcing, JSON.stringify([account, policy]));
    await this.store.pexpire(keys.announcing, KEPT_MS);
    await this.store.hset(name, key, facts);
    await this.store.pexpire(name, KEPT_MS);
  }

  async remove(account: string, policy: string, key: string): Promise<void> {
    await this.store.hdel(keys.announcements(account, policy), key);
  }

  /** The accounts and policies that have announcements. */
  async announcing(): Promise<{ account: string; policy: string }[]> {
    const found: { account: string; policy: string }[] = [];
    for (const member of await this.store.smembers(keys.announcing)) {
      const [account, policy] = parseRecord(Announcing, member, keys.announcing);
      if ((await this.store.exists(keys.announcements(account, policy))) === 1)
        found.push({ account, policy });
    }
    return found;
  }

  /** All of a policy, which are kept longer by that. */
  async all(account: string, policy: string): Promise<Map<string, string>> {
    const name = keys.announcements(account, policy);
    await this.store.pexpire(name, KEPT_MS);
    const found = new Map<string, string>();
    let cursor = '0';
    do {
      const [next, entries] = await this.store.hscan(name, cursor, 'COUNT', PAGE);
      for (let i = 0; i + 1 < entries.length; i += 2) found.set(entries[i] ?? '', entries[i + 1] ?? '');
      cursor = next;
    } while (cursor !== '0');
    return found;
  }
}
