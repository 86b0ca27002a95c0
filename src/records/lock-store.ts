import { runScript } from '../redis/script.ts';
import type { Store } from '../redis/store.ts';
import { keys } from './keys.ts';

const TAKE = `
local owner = redis.call('GET', KEYS[1])
if owner and owner ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1`;

const GIVE_BACK = `
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
return 1`;

/**
 * Leases with an owner: they run out by themselves when their owner dies, and only the owner gives them back.
 */
export class LockStore {
  constructor(private readonly store: Store) {}

  /** Takes the lease or renews it for `ttlMs`. False while somebody else has it. */
  async take(name: string, owner: string, ttlMs: number): Promise<boolean> {
    return (await runScript(this.store, TAKE, [keys.lock(name)], [owner, ttlMs])) === 1;
  }

  /** Who has the lease; nothing when nobody has. */
  async holder(name: string): Promise<string | undefined> {
    return (await this.store.get(keys.lock(name))) ?? undefined;
  }

  async giveBack(name: string, owner: string): Promise<void> {
    await runScript(this.store, GIVE_BACK, [keys.lock(name)], [owner]);
  }
}
