/**
 * The version of each policy that was active last, so that it is active again after a restart while its file cannot be read.
 */
import { z } from 'zod';
import { type Store, toJson } from '../redis/store.ts';
import { keys } from './keys.ts';
import { parseRecord } from './parse-record.ts';

const LastPolicy = z.object({
  name: z.string(),
  /** The file that it was read from, relative to the policies folder. */
  file: z.string(),
  /** The version: a `Policy`, which this room does not know. */
  policy: z.unknown(),
  hash: z.string(),
  /** When it was read first, and when its file was changed. */
  readAt: z.number(),
  changedAt: z.number(),
});
export type LastPolicy = z.output<typeof LastPolicy>;

export class LastPolicyStore {
  constructor(private readonly store: Store) {}

  async all(): Promise<LastPolicy[]> {
    const stored = await this.store.hvals(keys.lastPolicies);
    return stored.map((json) => parseRecord(LastPolicy, json, keys.lastPolicies));
  }

  names(): Promise<string[]> {
    return this.store.hkeys(keys.lastPolicies);
  }

  async set(policies: readonly LastPolicy[]): Promise<void> {
    if (policies.length > 0)
      await this.store.hset(
        keys.lastPolicies,
        Object.fromEntries(policies.map((one) => [one.name, toJson(one)])),
      );
  }

  async remove(names: readonly string[]): Promise<void> {
    if (names.length > 0) await this.store.hdel(keys.lastPolicies, ...names);
  }
}
