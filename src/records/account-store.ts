import { z } from 'zod';
import type { Store } from '../redis/store.ts';
import { keys } from './keys.ts';
import { parseRecord } from './parse-record.ts';

/** Since when and why an account refuses access. */
const Blocked = z.object({ since: z.number(), why: z.string() });
export type Blocked = z.output<typeof Blocked>;

/** Stores for each account whether it refuses access, and how long its background work usually takes. */
export class AccountStore {
  constructor(private readonly store: Store) {}

  async blocked(account: string): Promise<Blocked | undefined> {
    const key = keys.blocked(account);
    const json = await this.store.get(key);
    return json ? parseRecord(Blocked, json, key) : undefined;
  }

  /** Records that the account refuses access. The first refusal stays. */
  async block(account: string, blocked: Blocked): Promise<void> {
    await this.store.set(keys.blocked(account), JSON.stringify(blocked), 'NX');
  }

  async unblock(account: string): Promise<void> {
    await this.store.del(keys.blocked(account));
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
