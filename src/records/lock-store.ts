import { defineScript } from '../redis/script.ts';
import type { Store } from '../redis/store.ts';
import { keys } from './keys.ts';

const acquireLease = defineScript(
  { keys: ['lease'], args: ['owner', 'ttl'] },
  `
local owner = redis.call('GET', keys.lease)
if owner and owner ~= args.owner then return 0 end
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

  async release(name: string, owner: string): Promise<void> {
    await releaseLease(this.store, { keys: { lease: keys.lock(name) }, args: { owner } });
  }
}
