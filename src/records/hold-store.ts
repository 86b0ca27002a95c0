/**
 * Messages that are held until a time, and are one message then: see `hold` of a receiver. A hold is a list of
 * messages with one due time. Taking a notice adds to it; a message leaves it in the script that makes its delivery.
 */
import { defineScript } from '../redis/script.ts';
import type { Store } from '../redis/store.ts';
import { type DeliveryStore, NewDelivery } from './delivery-store.ts';
import { keys } from './keys.ts';
import { parseRecord } from './parse-record.ts';

/**
 * For the head of a script that makes deliveries; `deliveries`, `due` and `last` are keys of all of them. A delivery
 * waits for those to its receiver that were the last ones about its subjects, in `after`.
 */
export const ADD_DELIVERY = `
local function add_delivery(id, text, delivery, now, kept)
  if redis.call('EXISTS', delivery) == 1 then return end
  local made, after = cjson.decode(text), {}
  for _, subject in ipairs(made.subjects or {}) do
    local field = made.to .. ' ' .. subject
    table.insert(after, redis.call('HGET', keys.last, field) or nil)
    redis.call('HSET', keys.last, field, id)
  end
  redis.call('HSET', delivery, 'delivery', text, 'to', made.to, 'state', 'pending', 'since', now)
  if #after > 0 then redis.call('HSET', delivery, 'after', table.concat(after, ' ')) end
  redis.call('PEXPIRE', delivery, kept)
  redis.call('ZADD', keys.deliveries, now, id)
  redis.call('ZADD', keys.due, now, id)
  redis.call('ZREMRANGEBYSCORE', keys.deliveries, '-inf', now - kept)
  for _, key in ipairs({keys.deliveries, keys.due, keys.last}) do redis.call('PEXPIRE', key, kept) end
end`;

/** Why messages wait: for others (`group_wait`), for the end of quiet hours, or for the next digest. */
export type HoldKind = 'group' | 'quiet' | 'digest';

/** A full hold is due at once. */
const MAX_HELD = 200;
/** Longer than the longest pause between two digests. */
const KEPT_MS = 400 * 86_400_000;

/**
 * For the head of a script with the key `holds`. A hold is due with the message that is due first: not later, when its
 * rule was changed or the clock went back.
 */
export const HOLD = `
local function hold(name, list, text, due, now)
  local count = redis.call('RPUSH', list, text)
  redis.call('PEXPIRE', list, ${KEPT_MS})
  redis.call('ZADD', keys.holds, 'LT', due, name)
  if count >= ${MAX_HELD} then redis.call('ZADD', keys.holds, now, name) end
  redis.call('PEXPIRE', keys.holds, ${KEPT_MS})
end`;

/** `first` and `last`: the messages that the delivery is made of are still there. */
const releaseHeld = defineScript(
  {
    keys: ['holds', 'list', 'deliveries', 'due', 'last', 'delivery'],
    args: ['name', 'first', 'last', 'count', 'id', 'text', 'now', 'kept'],
  },
  `${ADD_DELIVERY}
if redis.call('LINDEX', keys.list, 0) ~= args.first then return 0 end
if redis.call('LINDEX', keys.list, args.count - 1) ~= args.last then return 0 end
redis.call('LTRIM', keys.list, args.count, -1)
if redis.call('EXISTS', keys.list) == 0 then redis.call('ZREM', keys.holds, args.name) end
add_delivery(args.id, args.text, keys.delivery, args.now, args.kept)
return 1`,
);

/** A message that is made, and until when it is held. */
export interface Held {
  kind: HoldKind;
  due: number;
}

/** Messages that were held together. */
export interface DueHold {
  name: string;
  kind: HoldKind;
  texts: readonly string[];
  /** Never empty, oldest first. */
  messages: readonly NewDelivery[];
}

export class HoldStore {
  constructor(
    private readonly store: Store,
    private readonly deliveries: Pick<DeliveryStore, 'keptMs'>,
  ) {}

  /** Those that are due; with `early`, also those that are not due but are of this kind. At most `limit`. */
  async due(now: number, limit: number, early?: HoldKind): Promise<DueHold[]> {
    const due = await this.store.zrangebyscore(keys.holds, '-inf', now, 'LIMIT', 0, limit);
    const others = early === undefined ? [] : await this.store.zrange(keys.holds, 0, String(limit - 1));
    const names = new Set([...due, ...others.filter((name) => kindOf(name) === early)]);
    const holds = await Promise.all([...names].map((name) => this.read(name)));
    return holds.filter((one) => one !== undefined);
  }

  private async read(name: string): Promise<DueHold | undefined> {
    const key = keys.hold(name);
    const texts = await this.store.lrange(key, 0, MAX_HELD - 1);
    if (texts.length === 0) return undefined;
    const messages = texts.map((text) => parseRecord(NewDelivery, text, key));
    return { name, kind: kindOf(name), texts, messages };
  }

  /** Makes a delivery of the messages, due now. False when another process has done so. */
  async release({ name, texts }: DueHold, delivery: NewDelivery, now: number): Promise<boolean> {
    const released = await releaseHeld(this.store, {
      keys: {
        holds: keys.holds,
        list: keys.hold(name),
        deliveries: keys.deliveries,
        due: keys.dueDeliveries,
        last: keys.lastDeliveries,
        delivery: keys.delivery(delivery.id),
      },
      args: {
        name,
        first: texts[0] ?? '',
        last: texts.at(-1) ?? '',
        count: texts.length,
        id: delivery.id,
        text: JSON.stringify(delivery),
        now,
        kept: this.deliveries.keptMs,
      },
    });
    return released === 1;
  }
}

/** The hold of a receiver. */
export const holdName = (kind: HoldKind, to: string): string => `${kind} ${to}`;

const kindOf = (name: string): HoldKind => name.split(' ', 1)[0] as HoldKind;
