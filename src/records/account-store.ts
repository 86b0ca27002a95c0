import { z } from 'zod';
import { defineScript } from '../redis/script.ts';
import type { Store } from '../redis/store.ts';
import { scrub } from '../secrets.ts';
import { keys } from './keys.ts';
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

/** Stores for each account whether it refuses access, and how long its background work usually takes. */
export class AccountStore {
  constructor(private readonly store: Store) {}

  async blocked(account: string): Promise<Blocked | undefined> {
    const key = keys.blocked(account);
    const json = await this.store.get(key);
    return json ? parseRecord(Blocked, json, key) : undefined;
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
