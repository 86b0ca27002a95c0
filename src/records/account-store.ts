import { z } from 'zod';
import { AccountMovedError } from '../contract/service-address.ts';
import { defineScript } from '../redis/script.ts';
import type { Store } from '../redis/store.ts';
import { scrub } from '../secrets.ts';
import { keys } from './keys.ts';
import { LEASES } from './lock-store.ts';
import { ADD_NOTICE, noticeText } from './notice-store.ts';
import { parseRecord } from './parse-record.ts';

/** Since when and why an account refuses access. */
const Blocked = z.object({ since: z.number(), why: z.string() });
export type Blocked = z.output<typeof Blocked>;

const blockAccount = defineScript(
  { keys: ['blocked', 'notices'], args: ['blocked', 'notice'] },
  `${ADD_NOTICE}
if redis.call('SETNX', keys.blocked, args.blocked) == 1 then add_notice(keys.notices, args.notice) end
return 1`,
);

const unblockAccount = defineScript(
  { keys: ['blocked', 'notices'], args: ['notice'] },
  `${ADD_NOTICE}
if redis.call('DEL', keys.blocked) == 1 then add_notice(keys.notices, args.notice) end
return 1`,
);

/**
 * Acquires or renews the lease of an account's supervisor, unless its records belong to another address: then it gives
 * that address, and the lease ends.
 */
const supervise = defineScript(
  { keys: ['lease', 'addresses'], args: ['account', 'address', 'owner', 'ttl'] },
  `${LEASES}
local owner = redis.call('GET', keys.lease)
redis.call('HSETNX', keys.addresses, args.account, args.address)
local bound = redis.call('HGET', keys.addresses, args.account)
if bound ~= args.address then
  if owner == args.owner then redis.call('DEL', keys.lease) end
  return bound
end
if is_taken(owner) then return 0 end
redis.call('SET', keys.lease, args.owner, 'PX', args.ttl)
return 1`,
);

const moveAccount = defineScript(
  { keys: ['addresses', 'active_runs'], args: ['account', 'address'] },
  `
if redis.call('SCARD', keys.active_runs) > 0 then return 0 end
redis.call('HSET', keys.addresses, args.account, args.address)
return 1`,
);

/** A refusal is known until a run asks again: without one, nobody knows whether it still holds. */
export const formatBlocked = (account: string, { why }: Blocked, activeRuns: number): string =>
  activeRuns > 0
    ? `The account ${account} refuses access, so its runs wait: ${why}`
    : `The account ${account} refused access, and no run is active that asks again: ${why}`;

/**
 * Stores for each account which service its records belong to, whether it refuses access, and how long its background
 * work usually takes.
 */
export class AccountStore {
  constructor(private readonly store: Store) {}

  async blocked(account: string): Promise<Blocked | undefined> {
    const key = keys.blocked(account);
    const json = await this.store.get(key);
    return json ? parseRecord(Blocked, json, key) : undefined;
  }

  /** The same of several accounts, in their order. */
  async blockedOf(accounts: readonly string[]): Promise<(Blocked | undefined)[]> {
    if (accounts.length === 0) return [];
    const found = await this.store.mget(accounts.map((account) => keys.blocked(account)));
    return found.map((json, index) =>
      json ? parseRecord(Blocked, json, keys.blocked(accounts[index] ?? '')) : undefined,
    );
  }

  /** Records that the account refuses access, with its notice. The first refusal stays. */
  async block(account: string, { since, why }: Blocked): Promise<void> {
    const detail = scrub(`The account "${account}" refuses access, so its runs wait: ${why}`);
    await blockAccount(this.store, {
      keys: { blocked: keys.blocked(account), notices: keys.notices },
      args: {
        blocked: JSON.stringify({ since, why }),
        notice: noticeText({ type: 'system', event: 'account-blocked', at: since, account, detail }),
      },
    });
  }

  /** Records that the account accepts requests again at `at`, with its notice if it was blocked. */
  async unblock(account: string, at: number): Promise<void> {
    const detail = `The account "${account}" accepts requests again, and its runs continue.`;
    await unblockAccount(this.store, {
      keys: { blocked: keys.blocked(account), notices: keys.notices },
      args: { notice: noticeText({ type: 'system', event: 'account-back', at, account, detail }) },
    });
  }

  /** The address of the service that the records of each account belong to. Accounts that never had a run are missing. */
  async addresses(): Promise<Map<string, string>> {
    return new Map(Object.entries(await this.store.hgetall(keys.addresses)));
  }

  /** The same of one account. */
  async addressOf(account: string): Promise<string | undefined> {
    return (await this.store.hget(keys.addresses, account)) ?? undefined;
  }

  /**
   * Checks that the account's records belong to this address, or to none yet.
   *
   * @throws {AccountMovedError}
   */
  async needAddress(account: string, address: string): Promise<void> {
    const bound = await this.addressOf(account);
    if (bound !== undefined && bound !== address) throw new AccountMovedError(account, address, bound);
  }

  /** Binds the records of an account to another address. False while a run of the account has not ended. */
  async move(account: string, address: string): Promise<boolean> {
    const moved = await moveAccount(this.store, {
      keys: { addresses: keys.addresses, active_runs: keys.activeRuns(account) },
      args: { account, address },
    });
    return moved === 1;
  }

  /**
   * Acquires or renews the lease of the account's supervisor for `ttlMs`. False while another owner has it.
   *
   * @throws {AccountMovedError} when the account's records belong to another address.
   */
  async supervise(
    { account, address }: { account: string; address: string },
    lease: { name: string; owner: string; ttlMs: number },
  ): Promise<boolean> {
    const reply = await supervise(this.store, {
      keys: { lease: keys.lock(lease.name), addresses: keys.addresses },
      args: { account, address, owner: lease.owner, ttl: lease.ttlMs },
    });
    if (typeof reply === 'string') throw new AccountMovedError(account, address, reply);
    return reply === 1;
  }

  /** Records that a supervisor has just maintained the account's runs. */
  async noteSupervised(account: string, at: number): Promise<void> {
    await this.store.hset(keys.supervised, account, at);
  }

  /** When a supervisor last maintained the runs of each account. Accounts that never had runs are missing. */
  async supervisedAt(): Promise<Map<string, number>> {
    const all = await this.store.hgetall(keys.supervised);
    return new Map(Object.entries(all).map(([account, at]) => [account, Number(at)]));
  }

  /** The same of one account; undefined when it never had runs. */
  async supervisedAtOf(account: string): Promise<number | undefined> {
    const at = await this.store.hget(keys.supervised, account);
    return at === null ? undefined : Number(at);
  }

  /** How long work of a kind usually takes here, in milliseconds; undefined while none has been seen. */
  async usualMs(account: string, kind: string): Promise<number | undefined> {
    const value = await this.store.hget(keys.durations(account), kind);
    return value === null ? undefined : Number(value);
  }

  /**
   * Updates the moving average with `count` pieces of work that took `ms` on average. Each piece has a weight
   * of a fifth.
   */
  async learnDuration(account: string, kind: string, ms: number, count = 1): Promise<void> {
    const before = await this.usualMs(account, kind);
    const usual = before === undefined ? ms : before + (ms - before) * (1 - 0.8 ** count);
    await this.store.hset(keys.durations(account), kind, Math.round(usual));
  }
}
