import { defineScript } from '../redis/script.ts';
import type { Store } from '../redis/store.ts';
import { keys } from './keys.ts';

/**
 * For the head of a script with the key `lease` and the arguments `owner` and `ttl`. `is_taken(owner)`: another one has
 * it. Redis stores when a lease expires, so one of a dead owner would last as long as Redis's clock went back: it is cut
 * to what a living owner renews.
 */
export const LEASES = `
local function is_taken(owner)
  if not owner or owner == args.owner then return false end
  if redis.call('PTTL', keys.lease) > tonumber(args.ttl) then redis.call('PEXPIRE', keys.lease, args.ttl) end
  return true
end`;

/** The name of the lease that an account's supervisor holds: the process that supervises the account's runs. */
export const supervisorLease = (account: string): string => `supervisor:${account}`;

const acquireLease = defineScript(
  { keys: ['lease'], args: ['owner', 'ttl'] },
  `${LEASES}
if is_taken(redis.call('GET', keys.lease)) then return 0 end
redis.call('SET', keys.lease, args.owner, 'PX', args.ttl)
return 1`,
);

const releaseLease = defineScript(
  { keys: ['lease'], args: ['owner'] },
  `
if redis.call('GET', keys.lease) == args.owner then redis.call('DEL', keys.lease) end
return 1`,
);

/**
 * Leases with an owner: a lease expires when its owner no longer renews it, and only its owner releases it.
 */
export class LockStore {
  constructor(private readonly store: Store) {}

  /** Acquires or renews the lease for `ttlMs`. False while another owner has it. */
  async acquire(name: string, owner: string, ttlMs: number): Promise<boolean> {
    const acquired = await acquireLease(this.store, {
      keys: { lease: keys.lock(name) },
      args: { owner, ttl: ttlMs },
    });
    return acquired === 1;
  }

  /** The owner of the lease; nothing when it has none. */
  async holder(name: string): Promise<string | undefined> {
    return (await this.store.get(keys.lock(name))) ?? undefined;
  }

  /** The same of several leases, in their order. */
  async holders(names: readonly string[]): Promise<(string | undefined)[]> {
    if (names.length === 0) return [];
    const found = await this.store.mget(names.map((name) => keys.lock(name)));
    return found.map((holder) => holder ?? undefined);
  }

  async release(name: string, owner: string): Promise<void> {
    await releaseLease(this.store, { keys: { lease: keys.lock(name) }, args: { owner } });
  }
}
