/** What is read of many deliveries at once, without their messages. */
import { defineScript } from '../redis/script.ts';
import type { Store } from '../redis/store.ts';
import type { DeliveryState } from './filter-values.ts';
import { keys } from './keys.ts';

/** How many deliveries one script reads: Redis does nothing else meanwhile. */
const PAGE = 1_000;

const readDue = defineScript(
  { keys: ['due'], args: ['delivery_prefix', 'now', 'from', 'count'] },
  `
local due = redis.call('ZRANGEBYSCORE', keys.due, '-inf', args.now, 'WITHSCORES', 'LIMIT', args.from, args.count)
local found = {}
for at = 1, #due, 2 do
  table.insert(found, { due[at], due[at + 1], redis.call('HGET', args.delivery_prefix .. due[at], 'to') or '' })
end
return found`,
);

const readStates = defineScript(
  { keys: ['deliveries'], args: ['delivery_prefix', 'from', 'to'] },
  `
local ids = redis.call('ZRANGE', keys.deliveries, args.from, args.to)
local found = {}
for _, id in ipairs(ids) do
  local state, since, to = unpack(redis.call('HMGET', args.delivery_prefix .. id, 'state', 'since', 'to'))
  if state == 'pending' or state == 'dead' then
    table.insert(found, { to, state, since })
  end
end
return { #ids, found }`,
);

export interface DueDelivery {
  id: string;
  /** Since when it is due. */
  since: number;
  to: string;
}

/**
 * The deliveries that are due, longest first, at most `each` of a receiver: so one receiver with many of them does
 * not hide the others. Reads all that are due, a thousand at a time.
 */
export async function dueDeliveries(store: Store, now: number, each: number): Promise<DueDelivery[]> {
  const counts = new Map<string, number>();
  const found: DueDelivery[] = [];
  for (let from = 0; ; from += PAGE) {
    const page = (await readDue(store, {
      keys: { due: keys.dueDeliveries },
      args: { delivery_prefix: keys.delivery(''), now, from, count: PAGE },
    })) as [string, string, string][];
    for (const [id, since, to] of page) {
      const count = (counts.get(to) ?? 0) + 1;
      counts.set(to, count);
      if (count <= each) found.push({ id, since: Number(since), to });
    }
    if (page.length < PAGE) return found;
  }
}

/** What has not arrived at a receiver. */
export interface OpenDeliveries {
  pending: number;
  dead: number;
  /** Since when the oldest pending one waits: when it was made, or sent again. */
  since?: number;
}

/** By receiver. Reads the states of all deliveries that are kept, a thousand at a time. */
export async function openDeliveries(store: Store): Promise<Map<string, OpenDeliveries>> {
  const found = new Map<string, OpenDeliveries>();
  for (let from = 0; ; from += PAGE) {
    const [count, page] = (await readStates(store, {
      keys: { deliveries: keys.deliveries },
      args: { delivery_prefix: keys.delivery(''), from, to: from + PAGE - 1 },
    })) as [number, [string, Exclude<DeliveryState, 'delivered'>, string][]];
    for (const [to, state, since] of page) {
      const open = found.get(to) ?? { pending: 0, dead: 0 };
      open[state] += 1;
      if (state === 'pending') open.since = Math.min(open.since ?? Number.POSITIVE_INFINITY, Number(since));
      found.set(to, open);
    }
    if (count < PAGE) return found;
  }
}
