/**
 * The ledger of a policy: one record for each scheduled time of what was decided about it.
 *
 * A record is written in the same script as the run that it names, or as the cursor that moves past the
 * scheduled time. The first record of a time stays, so that any number of daemons, killed at any instant,
 * leave exactly one. A backfill is noted on the existing record.
 */

import { z } from 'zod';
import { isoMinute } from '../clock.ts';
import { defineScript } from '../redis/script.ts';
import { type Store, toJson } from '../redis/store.ts';
import { keys } from './keys.ts';
import { ADD_NOTICE, noticeText, type SystemNotice } from './notice-store.ts';
import { parseRecord } from './parse-record.ts';

/** Why a scheduled time made no run, or a run that was skipped. */
export const skipCodes = ['overlap', 'paused', 'frozen', 'blackout', 'disabled'] as const;
export type SkipCode = (typeof skipCodes)[number];

/** What was decided about one scheduled time. */
const ScheduledTime = z.object({
  /** The scheduled time before jitter, in milliseconds since 1970. */
  scheduledFor: z.number(),
  is: z.enum(['ran', 'skipped', 'missed', 'merged']),
  /** When this was decided. */
  at: z.number(),
  why: z.exactOptional(z.enum(skipCodes)),
  /** Details for people: who paused the policy and why, or which run was active. */
  note: z.exactOptional(z.string()),
  /** Its run; for `overlap`, the run that was skipped. */
  run: z.exactOptional(z.string()),
  /** The run whose end it is, of a policy that follows another (`schedule.after`). */
  after: z.exactOptional(z.string()),
  /** Of a merged time: the scheduled time whose run catches it up. */
  into: z.exactOptional(z.number()),
  /** The latest backfill of it. */
  backfill: z.exactOptional(z.string()),
});
export type ScheduledTime = z.output<typeof ScheduledTime>;

/** Where the scheduler continues with a policy. */
export interface CursorMove {
  to: number;
  /** The crons and time zone whose times the cursor counts. */
  schedule: string;
  /**
   * Times from here on still have to get a run of their own (`catchup: { mode: all }`); nothing when none has.
   */
  owedFrom?: number | undefined;
}

/**
 * `schedule`: the crons and time zone that the cursor counts; `owed_from`: a time or ''; `records`: scheduled
 * time and record in turn. Gives how many records are new.
 */
const recordTimes = defineScript(
  {
    keys: ['ledger', 'policy', 'ledgers', 'notices'],
    args: ['policy', 'cursor', 'schedule', 'owed_from', 'notice'],
    argList: 'records',
  },
  `${ADD_NOTICE}
local new = 0
for i = 1, #records, 2 do
  local at, record = records[i], records[i + 1]
  if redis.call('ZCOUNT', keys.ledger, at, at) == 0 then
    redis.call('ZADD', keys.ledger, at, record)
    new = new + 1
  end
end
if new > 0 then
  redis.call('SADD', keys.ledgers, args.policy)
  add_notice(keys.notices, args.notice)
end
local cursor, schedule = unpack(redis.call('HMGET', keys.policy, 'cursor', 'cursorSchedule'))
if tonumber(args.cursor) > tonumber(cursor or 0) then redis.call('HSET', keys.policy, 'cursor', args.cursor) end
if schedule ~= args.schedule then
  redis.call('HSET', keys.policy, 'cursorSchedule', args.schedule, 'since', args.cursor)
end
if args.owed_from == '' then redis.call('HDEL', keys.policy, 'owedFrom')
else redis.call('HSET', keys.policy, 'owedFrom', args.owed_from) end
return new`,
);

/**
 * `latest`: a cursor up to this time is no further ahead than the clocks of two processes differ; `from`: the oldest time
 * whose record is looked at. Gives the cursor, and how many records were removed.
 */
const takeBackTimes = defineScript(
  { keys: ['ledger', 'policy'], args: ['now', 'latest', 'from'] },
  `
local cursor, removed = tonumber(args.now), 0
local ahead = tonumber(redis.call('HGET', keys.policy, 'cursor') or 0)
if ahead <= tonumber(args.latest) then return {ahead, 0} end
for _, text in ipairs(redis.call('ZRANGEBYSCORE', keys.ledger, args.from, '+inf')) do
  local record = cjson.decode(text)
  if record.at > tonumber(args.latest) and record.is ~= 'ran' and not record.run and not record.backfill then
    redis.call('ZREM', keys.ledger, text)
    cursor, removed = math.min(cursor, record.scheduledFor - 1), removed + 1
  end
end
redis.call('HSET', keys.policy, 'cursor', string.format('%d', cursor))
return {cursor, removed}`,
);

/** That scheduled times were missed, if there are any. */
function aboutMissed(policy: string, records: readonly ScheduledTime[]): SystemNotice | undefined {
  const missed = records.filter(({ is }) => is === 'missed');
  const [first, last] = [missed[0], missed.at(-1)];
  if (!first || !last) return undefined;
  const times =
    first === last
      ? `the scheduled time ${isoMinute(first.scheduledFor)}`
      : `${missed.length} scheduled times from ${isoMinute(first.scheduledFor)} to ${isoMinute(last.scheduledFor)}`;
  const detail = `${policy} missed ${times}: no daemon could start a run within its catchup. caretaker why ${policy} shows more.`;
  return { type: 'system', event: 'missed-time', at: last.at, policy, detail };
}

/** The clocks of two processes differ by less. */
export const AHEAD_MS = 5_000;
/** Longer than the jitter of a schedule and a short jump of the clock. */
const TAKEN_BACK_MS = 3_600_000;

/** Records per script. */
const PAGE = 500;
/** A policy that runs every minute keeps a month. */
const MAX_KEPT = 50_000;

export class LedgerStore {
  constructor(private readonly store: Store) {}

  /**
   * Records scheduled times that make no run, and moves the policy's cursor forward; it never moves back, even
   * if the clocks of several daemons differ. A time that has a record keeps it. Gives how many records are new.
   */
  async record(policy: string, records: readonly ScheduledTime[], cursor: CursorMove): Promise<number> {
    let written = 0;
    for (let from = 0; from === 0 || from < records.length; from += PAGE) {
      const page = records.slice(from, from + PAGE);
      const last = from + PAGE >= records.length;
      const to = last ? cursor.to : Math.max(...page.map(({ scheduledFor: moment }) => moment));
      const added = await recordTimes(this.store, {
        keys: {
          ledger: keys.ledger(policy),
          policy: keys.policy(policy),
          ledgers: keys.ledgers,
          notices: keys.notices,
        },
        args: {
          policy,
          cursor: to,
          schedule: cursor.schedule,
          owed_from: cursor.owedFrom ?? '',
          notice: noticeText(aboutMissed(policy, page)),
        },
        argList: page.flatMap((record) => [record.scheduledFor, toJson(record)]),
      });
      written += Number(added);
    }
    return written;
  }

  /**
   * After the clock went back: removes what was recorded at a time that is not reached yet, and moves the cursor back, so
   * that those times fire. One that has a run keeps it.
   */
  async takeBack(policy: string, now: number): Promise<{ cursor: number; removed: number }> {
    const [cursor = now, removed = 0] = (await takeBackTimes(this.store, {
      keys: { ledger: keys.ledger(policy), policy: keys.policy(policy) },
      args: { now, latest: now + AHEAD_MS, from: now - TAKEN_BACK_MS },
    })) as number[];
    return { cursor, removed };
  }

  /**
   * The records of the times from `from` to `to`, both included, oldest first, at most `limit`.
   */
  async between(policy: string, from: number, to: number, limit: number): Promise<ScheduledTime[]> {
    return read(
      keys.ledger(policy),
      await this.store.zrange(keys.ledger(policy), String(from), String(to), 'BYSCORE', 'LIMIT', 0, limit),
    );
  }

  /** The newest records of times before `before`, newest first, at most `limit`: a page of the ledger. */
  async latest(policy: string, limit: number, before = Number.POSITIVE_INFINITY): Promise<ScheduledTime[]> {
    const below = before === Number.POSITIVE_INFINITY ? '+inf' : `(${before}`;
    return read(
      keys.ledger(policy),
      await this.store.zrange(keys.ledger(policy), below, '-inf', 'BYSCORE', 'REV', 'LIMIT', 0, limit),
    );
  }

  /**
   * Removes the records of times before `before`, and of each policy the oldest beyond 50,000; gives how many.
   */
  async prune(before: number): Promise<number> {
    let removed = 0;
    for (const policy of await this.store.smembers(keys.ledgers)) {
      const ledger = keys.ledger(policy);
      removed += await this.store.zremrangebyscore(ledger, '-inf', `(${before}`);
      removed += await this.store.zremrangebyrank(ledger, 0, -MAX_KEPT - 1);
      // A record that is added meanwhile adds its policy's name again, so the next pruning finds it.
      if ((await this.store.zcard(ledger)) === 0) await this.store.srem(keys.ledgers, policy);
    }
    return removed;
  }
}

const read = (ledger: string, members: string[]): ScheduledTime[] =>
  members.map((member) => parseRecord(ScheduledTime, member, ledger));
