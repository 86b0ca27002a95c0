/**
 * What was spent of a budget, by class and policy, in buckets of minutes and hours. The script that grants a request
 * counts it (`scripts.ts`), so that it costs no command of its own.
 *
 * A request counts in the bucket in which its window began. So a bucket of a minute never has more than the limit,
 * although windows do not begin with the minutes of the clock.
 */
import type { Cluster, Redis } from 'ioredis';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../dates.ts';
import { type RequestClass, requestClasses } from './ticket.ts';

/** The sizes of buckets: how long each is kept after it began to count. */
export const bucketSizes = [
  { name: 'minute', ms: MINUTE_MS, keptMs: 2 * HOUR_MS + 10 * MINUTE_MS },
  { name: 'hour', ms: HOUR_MS, keptMs: 8 * DAY_MS + 2 * HOUR_MS },
] as const;

/** The spans that can be read, each with its buckets. */
export const historySpans = {
  hour: { ms: HOUR_MS, size: bucketSizes[0] },
  day: { ms: DAY_MS, size: bucketSizes[1] },
  week: { ms: 7 * DAY_MS, size: bucketSizes[1] },
} as const;
export type HistorySpan = keyof typeof historySpans;

/** A bucket has at most this many pairs of class and policy; those of further policies are counted as of none. */
export const MAX_FIELDS = 200;

export interface Spending {
  class: RequestClass;
  /** The policy whose runs needed them; missing for what several policies share, and for people. */
  policy?: string;
  requests: number;
}

export interface BudgetBucket {
  /** When it begins. */
  at: number;
  ms: number;
  spent: Spending[];
  /** What other clients spent in the windows that ended, at least; missing when no window of it was seen to its end. */
  others?: number;
  /** The limit of a window, as it was last seen in it. */
  limit?: number;
}

/** Buckets that do not change any more, by size and time, as they were read. */
export type ReadBuckets = Map<string, BudgetBucket>;

/** A bucket counts for so long after its end: requests of its last window, whose end is noted later. */
const COUNTS_ON_MS = 5 * MINUTE_MS;

/**
 * Reads the buckets of a span, oldest first, the one in progress included. One round trip. Those in `read` are not
 * read again: it has the closed ones of the last call, and is brought up to date.
 */
export async function readHistory(
  redis: Redis | Cluster,
  prefix: string,
  span: HistorySpan,
  now: number,
  read: ReadBuckets = new Map(),
): Promise<BudgetBucket[]> {
  const { ms, size } = historySpans[span];
  const last = Math.floor(now / size.ms) * size.ms;
  const times = Array.from({ length: ms / size.ms }, (_, index) => last - ms + (index + 1) * size.ms);
  const nameOf = (at: number) => `${size.name}:${at}`;
  const unread = times.filter((at) => !read.has(nameOf(at)));
  const reads = redis.pipeline();
  for (const at of unread) reads.hgetall(`${prefix}${nameOf(at)}`);
  const answers = (await reads.exec()) ?? [];
  const found = new Map(
    unread.map((at, index) => {
      const [error, fields] = answers[index] ?? [];
      if (error) throw error;
      return [at, bucketOf(at, size.ms, (fields ?? {}) as Record<string, string>)];
    }),
  );
  for (const [at, bucket] of found) if (at + size.ms + COUNTS_ON_MS < now) read.set(nameOf(at), bucket);
  forgetOld(read, now);
  return times.map((at) => found.get(at) ?? read.get(nameOf(at)) ?? bucketOf(at, size.ms, {}));
}

/** Removes what no span has any more. */
function forgetOld(read: ReadBuckets, now: number): void {
  const longest = { [bucketSizes[0].ms]: HOUR_MS, [bucketSizes[1].ms]: 7 * DAY_MS };
  for (const [name, { at, ms }] of read) if (at < now - (longest[ms] ?? 0) - ms) read.delete(name);
}

function bucketOf(at: number, ms: number, fields: Record<string, string>): BudgetBucket {
  const spent = Object.entries(fields).flatMap(([field, count]): Spending[] => {
    const [requestClass, policy] = field.split(' ');
    const known = requestClasses.find((one) => one === requestClass);
    if (known === undefined || policy === undefined) return [];
    return [{ class: known, ...(policy === '' ? {} : { policy }), requests: Number(count) }];
  });
  const { others, limit } = fields;
  return {
    at,
    ms,
    spent,
    ...(others === undefined ? {} : { others: Number(others) }),
    ...(limit === undefined ? {} : { limit: Number(limit) }),
  };
}
