import { z } from 'zod';
import type { Store } from '../redis/store.ts';
import { keys } from './keys.ts';
import { parseRecord } from './parse-record.ts';

/** Since when and why an account refuses us. */
const Blocked = z.object({ since: z.number(), why: z.string() });
export type Blocked = z.output<typeof Blocked>;

/**
 * What is remembered of an account: whether it refuses us, and how long its background work usually takes.
 */
export class AccountStore {
  constructor(private readonly store: Store) {}

  async blocked(account: string): Promise<Blocked | undefined> {
    const key = keys.blocked(account);
    const json = await this.store.get(key);
    return json ? parseRecord(Blocked, json, key) : undefined;
  }

  /** Remembers that the account refuses us; the first refusal stays. */
  async block(account: string, blocked: Blocked): Promise<void> {
    await this.store.set(keys.blocked(account), JSON.stringify(blocked), 'NX');
  }

  async unblock(account: string): Promise<void> {
    await this.store.del(keys.blocked(account));
  }

  /** Remembers that somebody has just looked after the account's runs. */
  async noteSupervised(account: string, at: number): Promise<void> {
    await this.store.hset(keys.supervised, account, at);
  }

  /** When somebody last looked after the runs of each account; accounts without runs so far are not there. */
  async supervisedAt(): Promise<Map<string, number>> {
    const all = await this.store.hgetall(keys.supervised);
    return new Map(Object.entries(all).map(([account, at]) => [account, Number(at)]));
  }

  /** How long work of a kind usually takes here, in milliseconds; nothing while none was seen. */
  async usualMs(account: string, kind: string): Promise<number | undefined> {
    const value = await this.store.hget(keys.durations(account), kind);
    return value === null ? undefined : Number(value);
  }

  /**
   * Learns from `count` pieces of work that took `ms` on average: the newest counts a fifth, all before it
   * the rest.
   */
  async learnDuration(account: string, kind: string, ms: number, count = 1): Promise<void> {
    const before = await this.usualMs(account, kind);
    const usual = before === undefined ? ms : before + (ms - before) * (1 - 0.8 ** count);
    await this.store.hset(keys.durations(account), kind, Math.round(usual));
  }
}
