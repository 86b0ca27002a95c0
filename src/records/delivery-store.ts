/**
 * Deliveries: one message for one receiver each, with its attempts. An entry in the queue only names a delivery; the
 * record decides whether it is due, and who attempts it.
 *
 * A process that attempts a delivery claims it first, and it is due again when the claim ends: so the delivery of a
 * process that died is found again.
 */

import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { defineScript } from '../redis/script.ts';
import type { Store } from '../redis/store.ts';
import { scrub } from '../secrets.ts';
import { type DueDelivery, dueDeliveries, type OpenDeliveries, openDeliveries } from './delivery-queries.ts';
import { type DeliveryState, deliveryStates, isAnyOf, type OneOrSome } from './filter-values.ts';
import { keys } from './keys.ts';
import { checkRecord, parseRecord } from './parse-record.ts';

const text = z.string();
const number = z.number();
const { exactOptional: optional } = z;

/** What is delivered to whom: it does not change. */
export const NewDelivery = z.object({
  /** The same in every attempt, so that a receiver recognizes a repetition. */
  id: text,
  /** A name under `notifications` in the configuration. */
  to: text,
  /** `run.failed`, `policy.findings`, ... */
  event: text,
  /** When the event happened. */
  at: number,
  policy: optional(text),
  account: optional(text),
  run: optional(text),
  /** The page about it, when the address of the dashboard is known. */
  link: optional(text),
  /** What the message is about. Of several that are held together, a later one replaces an earlier one. */
  about: optional(text),
  /** A message to the same receiver about one of these waits until the earlier one has arrived or was given up. */
  subjects: optional(z.array(text)),
  /** What is sent, without secrets: `text` for people, and facts for programs. */
  message: z.looseObject({ text }),
});
export type NewDelivery = z.output<typeof NewDelivery>;

/** The result of an attempt; without `is`, the process died or the attempt is not over. */
export const Attempt = z.object({
  at: number,
  is: optional(z.enum(['delivered', 'failed', 'rejected'])),
  ms: optional(number),
  why: optional(text),
});
export type Attempt = z.output<typeof Attempt>;

export interface Delivery extends NewDelivery {
  state: DeliveryState;
  /** When its attempts began: when it was made, or sent again. */
  since: number;
  /** How many attempts there were since then. */
  tries: number;
  /** The last ones, oldest first. */
  attempts: Attempt[];
  /** When a pending delivery is attempted next, or its claim ends. */
  due?: number;
}

/** A delivery that this process attempts. */
export interface ClaimedDelivery extends Delivery {
  claim: string;
}

export interface DeliveryQuery {
  state?: OneOrSome<DeliveryState>;
  to?: OneOrSome<string>;
  /** Only those of these policies; a delivery without a policy is then missing. */
  permits?: ((delivery: Pick<Delivery, 'policy' | 'account'>) => boolean) | undefined;
  /** About this policy. */
  policy?: OneOrSome<string>;
  /** Made at or after this time, or before it. */
  since?: number | undefined;
  until?: number | undefined;
  /** Only those after the last one of a page, by `next` of that page. */
  after?: string | undefined;
  /** The maximum number, newest first. */
  limit: number;
}

const KEPT_MS = 30 * 86_400_000;
const MAX_ATTEMPTS_KEPT = 30;
const PAGE = 100;

/**
 * A claim that is sent again, because its answer was lost, is recognized by its name. One that has to wait for an earlier
 * delivery is due with it, and noted there as one that waits. The earlier one is attempted at once then, as the later one
 * would be: its receiver may be back.
 */
const claimDelivery = defineScript(
  { keys: ['delivery', 'due'], args: ['id', 'now', 'ends', 'claim', 'delivery_prefix'] },
  `
local function waits_for(earlier)
  local key = args.delivery_prefix .. earlier
  local state, claim, waiting = unpack(redis.call('HMGET', key, 'state', 'claim', 'waiting'))
  if state ~= 'pending' then return false end
  waiting = waiting or ''
  if not string.find(waiting, args.id, 1, true) then
    redis.call('HSET', key, 'waiting', waiting .. ' ' .. args.id)
    if not claim then redis.call('ZADD', keys.due, 'LT', args.now, earlier) end
  end
  redis.call('ZADD', keys.due, redis.call('ZSCORE', keys.due, earlier) or args.ends, args.id)
  return true
end
local state, claim = unpack(redis.call('HMGET', keys.delivery, 'state', 'claim'))
if state ~= 'pending' then
  redis.call('ZREM', keys.due, args.id)
  return false
end
if claim ~= args.claim then
  local due = tonumber(redis.call('ZSCORE', keys.due, args.id) or 0)
  if due > tonumber(args.now) then return false end
  for earlier in string.gmatch(redis.call('HGET', keys.delivery, 'after') or '', '%S+') do
    if waits_for(earlier) then return false end
  end
  local attempts = cjson.decode(redis.call('HGET', keys.delivery, 'attempts') or '[]')
  table.insert(attempts, { at = tonumber(args.now) })
  while #attempts > ${MAX_ATTEMPTS_KEPT} do table.remove(attempts, 1) end
  redis.call('HSET', keys.delivery, 'claim', args.claim, 'attempts', cjson.encode(attempts))
  redis.call('HINCRBY', keys.delivery, 'tries', 1)
  redis.call('ZADD', keys.due, args.ends, args.id)
end
return redis.call('HGETALL', keys.delivery)`,
);

/** `attempt`: the last attempt, with its result; `due`: when the next one is due, or ''. */
const endAttempt = defineScript(
  { keys: ['delivery', 'due'], args: ['id', 'claim', 'state', 'attempt', 'due', 'now'] },
  `
if redis.call('HGET', keys.delivery, 'claim') ~= args.claim then return 0 end
local attempts = cjson.decode(redis.call('HGET', keys.delivery, 'attempts'))
attempts[#attempts] = cjson.decode(args.attempt)
redis.call('HSET', keys.delivery, 'state', args.state, 'attempts', cjson.encode(attempts))
redis.call('HDEL', keys.delivery, 'claim')
if args.due ~= '' then
  redis.call('ZADD', keys.due, args.due, args.id)
  return 1
end
redis.call('ZREM', keys.due, args.id)
for later in string.gmatch(redis.call('HGET', keys.delivery, 'waiting') or '', '%S+') do
  redis.call('ZADD', keys.due, 'XX', 'LT', args.now, later)
end
return 1`,
);

/** Gives 0 for one that no longer exists. One that is being attempted is due when that attempt ends. */
const sendAgain = defineScript(
  { keys: ['delivery', 'due', 'notices'], args: ['id', 'now', 'kept'] },
  `
local state, claim = unpack(redis.call('HMGET', keys.delivery, 'state', 'claim'))
if not state then return 0 end
redis.call('HSET', keys.delivery, 'state', 'pending', 'since', args.now, 'tries', 0)
redis.call('PEXPIRE', keys.delivery, args.kept)
if not claim then redis.call('ZADD', keys.due, args.now, args.id) end
redis.call('PEXPIRE', keys.due, args.kept)
redis.call('PUBLISH', keys.notices, '')
return 1`,
);

const Fields = z.object({
  state: z.enum(deliveryStates),
  since: z.coerce.number(),
  tries: z.coerce.number().default(0),
});

export class DeliveryStore {
  /** How long a delivery is kept. */
  readonly keptMs = KEPT_MS;

  constructor(private readonly store: Store) {}

  /** Those that are due, longest first, at most `each` of a receiver. */
  due(now: number, each: number): Promise<DueDelivery[]> {
    return dueDeliveries(this.store, now, each);
  }

  /** What has not arrived, by receiver. */
  open(): Promise<Map<string, OpenDeliveries>> {
    return openDeliveries(this.store);
  }

  /** Claims a delivery that is due, for `ms`. Undefined when it is not, or another process attempts it. */
  async claim(id: string, now: number, ms: number): Promise<ClaimedDelivery | undefined> {
    const claim = randomUUID();
    const flat = (await claimDelivery(this.store, {
      keys: { delivery: keys.delivery(id), due: keys.dueDeliveries },
      args: { id, now, ends: now + ms, claim, delivery_prefix: keys.delivery('') },
    })) as string[] | null;
    if (!flat) return undefined;
    const hash: Record<string, string> = {};
    for (let at = 0; at + 1 < flat.length; at += 2) hash[flat[at] ?? ''] = flat[at + 1] ?? '';
    const delivery = fromHash(hash, id);
    return delivery && { ...delivery, claim };
  }

  /**
   * Records the result of an attempt. Without `due` there is no other one. False when the claim had ended, and another
   * process has taken it over.
   */
  async end(
    { id, claim }: Pick<ClaimedDelivery, 'id' | 'claim'>,
    { state, attempt, due }: { state: DeliveryState; attempt: Attempt; due?: number | undefined },
  ): Promise<boolean> {
    const { why } = attempt;
    const ended = await endAttempt(this.store, {
      keys: { delivery: keys.delivery(id), due: keys.dueDeliveries },
      args: {
        id,
        claim,
        state,
        attempt: JSON.stringify({ ...attempt, ...(why === undefined ? {} : { why: scrub(why) }) }),
        due: due ?? '',
        now: attempt.at,
      },
    });
    return ended === 1;
  }

  /** Makes a delivery due now, in whatever state it is, with all its attempts before it. False when it is gone. */
  async sendAgain(id: string, now: number): Promise<boolean> {
    const call = {
      keys: { delivery: keys.delivery(id), due: keys.dueDeliveries, notices: keys.notices },
      args: { id, now, kept: KEPT_MS },
    };
    return (await sendAgain(this.store, call)) === 1;
  }

  async get(id: string): Promise<Delivery | undefined> {
    const [hash, due] = await Promise.all([
      this.store.hgetall(keys.delivery(id)),
      this.store.zscore(keys.dueDeliveries, id),
    ]);
    const delivery = fromHash(hash, id);
    return delivery && (due === null ? delivery : { ...delivery, due: Number(due) });
  }

  /** The same as `page`, without what follows. */
  async list(query: DeliveryQuery): Promise<Delivery[]> {
    return (await this.page(query)).deliveries;
  }

  /**
   * Newest first. Reads them a hundred at a time, until it has this many. `next`: where the next page begins; missing
   * when there is none.
   */
  async page(query: DeliveryQuery): Promise<{ deliveries: Delivery[]; next?: string }> {
    const { after, limit, since = '-inf', until } = query;
    const deliveries: Delivery[] = [];
    const [time = until === undefined ? '+inf' : `(${until}`, last] = after?.split(' ') ?? [];
    for (let offset = 0; ; offset += PAGE) {
      const flat = await this.store.zrange(
        keys.deliveries,
        time,
        String(since),
        'BYSCORE',
        'REV',
        'LIMIT',
        offset,
        PAGE,
        'WITHSCORES',
      );
      const page = flat.flatMap((id, at) => (at % 2 === 0 ? [{ id, score: flat[at + 1] ?? '' }] : []));
      const read = await Promise.all(page.map(({ id }) => this.get(id)));
      for (const [index, one] of read.entries()) {
        const { id = '', score = '' } = page[index] ?? {};
        // Of those with the same time, in the order of Redis, those of the page before.
        if (last !== undefined && score === time && id >= last) continue;
        if (!one || !isAsked(query, one)) continue;
        deliveries.push(one);
        if (deliveries.length === limit) return { deliveries, next: `${score} ${id}` };
      }
      if (page.length < PAGE) return { deliveries };
    }
  }
}

const isAsked = ({ state, to, policy, permits }: DeliveryQuery, one: Delivery): boolean =>
  isAnyOf(state, (some) => one.state === some) &&
  isAnyOf(to, (some) => one.to === some) &&
  isAnyOf(policy, (some) => one.policy === some) &&
  (permits?.(one) ?? true);

function fromHash(hash: Record<string, string>, id: string): Delivery | undefined {
  const key = keys.delivery(id);
  if (!hash['delivery']) return undefined;
  return {
    ...parseRecord(NewDelivery, hash['delivery'], key),
    ...checkRecord(Fields, hash, key),
    attempts: hash['attempts'] ? parseRecord(z.array(Attempt), hash['attempts'], key) : [],
  };
}
