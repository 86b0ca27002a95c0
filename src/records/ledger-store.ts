/**
 * The ledger of firings: for each nominal moment of a policy, one record of what was decided about it.
 *
 * A record is written in the same script as what it tells of: with the run that is made, or with the cursor
 * that moves past the moment. The first record of a moment stays, whoever comes second, so that any number of
 * daemons, killed at any instant, leave exactly one. A backfill is noted on the record that is there.
 */

import { z } from 'zod';
import { defineScript } from '../redis/script.ts';
import { type Store, toJson } from '../redis/store.ts';
import { keys } from './keys.ts';
import { parseRecord } from './parse-record.ts';

/** Why a moment made no run that did anything. */
export const leftOutFor = ['overlap', 'paused', 'frozen', 'blackout', 'disabled'] as const;
export type LeftOutFor = (typeof leftOutFor)[number];

/** What became of one moment. */
const FiringRecord = z.object({
  /** The nominal moment, in milliseconds since 1970. */
  moment: z.number(),
  is: z.enum(['ran', 'skipped', 'missed', 'merged']),
  /** When this was decided. */
  at: z.number(),
  why: z.exactOptional(z.enum(leftOutFor)),
  /** What a person should know besides: who paused it and why, which run was in the way. */
  note: z.exactOptional(z.string()),
  /** Its run; of a moment that was left out because of overlap, the record of that. */
  run: z.exactOptional(z.string()),
  /** Of a merged one: the moment whose run makes up for it. */
  into: z.exactOptional(z.number()),
  /** The latest run that caught up it afterwards. */
  backfill: z.exactOptional(z.string()),
});
export type FiringRecord = z.output<typeof FiringRecord>;

/** Where the scheduler goes on with a policy. */
export interface CursorMove {
  to: number;
  /** The crons and time zone whose moments are counted. */
  moments: string;
  /**
   * Moments from here on are still owed a run of their own (`catchup: { mode: all }`); nothing when none is.
   */
  owedFrom?: number | undefined;
}

/**
 * `schedule`: the crons and time zone that the cursor counts; `owed_from`: a time or ''; `records`: scheduled
 * time and record in turn. Gives how many records are new.
 */
const recordTimes = defineScript(
  {
    keys: ['ledger', 'policy', 'ledgers'],
    args: ['policy', 'cursor', 'schedule', 'owed_from'],
    argList: 'records',
  },
  `
local new = 0
for i = 1, #records, 2 do
  local at, record = records[i], records[i + 1]
  if redis.call('ZCOUNT', keys.ledger, at, at) == 0 then
    redis.call('ZADD', keys.ledger, at, record)
    new = new + 1
  end
end
if new > 0 then redis.call('SADD', keys.ledgers, args.policy) end
local cursor, schedule = unpack(redis.call('HMGET', keys.policy, 'cursor', 'moments'))
if tonumber(args.cursor) > tonumber(cursor or 0) then redis.call('HSET', keys.policy, 'cursor', args.cursor) end
if schedule ~= args.schedule then
  redis.call('HSET', keys.policy, 'moments', args.schedule, 'since', args.cursor)
end
if args.owed_from == '' then redis.call('HDEL', keys.policy, 'owedFrom')
else redis.call('HSET', keys.policy, 'owedFrom', args.owed_from) end
return new`,
);

/** So many records go into one script at most. */
const PAGE = 500;
/** A policy of every minute keeps a month; the newest stay. */
const MAX_KEPT = 50_000;

export class LedgerStore {
  constructor(private readonly store: Store) {}

  /**
   * Records moments that make no run, and moves the policy's cursor on; it never goes back, whatever the
   * clocks of several daemons say. A moment that has a record keeps it. Gives how many records are new.
   */
  async settle(policy: string, records: readonly FiringRecord[], cursor: CursorMove): Promise<number> {
    let written = 0;
    for (let from = 0; from === 0 || from < records.length; from += PAGE) {
      const page = records.slice(from, from + PAGE);
      const last = from + PAGE >= records.length;
      const to = last ? cursor.to : Math.max(...page.map(({ moment }) => moment));
      const added = await recordTimes(this.store, {
        keys: { ledger: keys.ledger(policy), policy: keys.policy(policy), ledgers: keys.ledgers },
        args: { policy, cursor: to, schedule: cursor.moments, owed_from: cursor.owedFrom ?? '' },
        argList: page.flatMap((record) => [record.moment, toJson(record)]),
      });
      written += Number(added);
    }
    return written;
  }

  /**
   * The records of the moments from `from` to `to`, both included, oldest first; at most `limit`, from the
   * oldest on.
   */
  async between(policy: string, from: number, to: number, limit: number): Promise<FiringRecord[]> {
    return read(
      keys.ledger(policy),
      await this.store.zrange(keys.ledger(policy), String(from), String(to), 'BYSCORE', 'LIMIT', 0, limit),
    );
  }

  /** The newest records of moments before `before`, newest first, at most `limit`: a page of the ledger. */
  async latest(policy: string, limit: number, before = Number.POSITIVE_INFINITY): Promise<FiringRecord[]> {
    const below = before === Number.POSITIVE_INFINITY ? '+inf' : `(${before}`;
    return read(
      keys.ledger(policy),
      await this.store.zrange(keys.ledger(policy), below, '-inf', 'BYSCORE', 'REV', 'LIMIT', 0, limit),
    );
  }

  /**
   * Forgets the records of moments before `before`, and of each policy the oldest beyond 50,000; gives how
   * many.
   */
  async prune(before: number): Promise<number> {
    let removed = 0;
    for (const policy of await this.store.smembers(keys.ledgers)) {
      const ledger = keys.ledger(policy);
      removed += await this.store.zremrangebyscore(ledger, '-inf', `(${before}`);
      removed += await this.store.zremrangebyrank(ledger, 0, -MAX_KEPT - 1);
      // A record that comes in between is written with its policy's name: the next hour finds it again.
      if ((await this.store.zcard(ledger)) === 0) await this.store.srem(keys.ledgers, policy);
    }
    return removed;
  }
}

const read = (ledger: string, members: string[]): FiringRecord[] =>
  members.map((member) => parseRecord(FiringRecord, member, ledger));
