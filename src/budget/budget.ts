/**
 * The requests per minute that an account has, shared by every process through one small hash in Redis.
 *
 * The service counts in fixed windows and tells after each answer how many requests are left and in how many seconds
 * the window ends (spec 8). We keep our own count of the window, lowered at once by every request that is let go and
 * corrected by every answer, so that other consumers of the account are seen too. When a window ends, the numbers of
 * the next one are unknown: a single request, the scout, goes ahead and everybody else waits for its answer. A change
 * of limit, a clock that differs, or somebody who drained the window thus costs one request, not one a process. Each
 * request has a ticket of the window it was let go in, so that an answer that comes late is not taken for a scout's.
 */
import { createHash } from 'node:crypto';
import type { Cluster, Redis } from 'ioredis';
import type { Clock } from '../clock.ts';
import { CaretakerError } from '../errors.ts';
import { runScript } from '../redis/script.ts';
import { Alone } from './alone.ts';
import { LEARN, ROOM, TAKE } from './scripts.ts';
import { type BudgetUsage, othersPerMinute, spentIn } from './usage.ts';
import { type Priority, priorities, type Ticket, type WindowNews } from './words.ts';

export interface BudgetOptions {
  /** What the account is allowed as long as the service has not told its own figure, which counts from then on. */
  requestsPerMinute: number;
  /** The share of the limit, 0 to 1, that is never spent: it is left for people using the same account. */
  reserve: number;
  /**
   * What happens to requests while Redis is away: `stop`, they wait for it, or `share`, this process goes on with what
   * is its part of the account when all share alike. Default `stop`.
   */
  whenRedisIsDown?: 'stop' | 'share';
  /** What this process is called in `usage`. */
  process?: string;
  /** Where the service is asked: that it did not answer at another address says nothing of this one. */
  address?: string | undefined;
}

export interface BudgetState {
  limit: number;
  /** Of the window as last seen, the reserve included; all of the limit once that window is over. */
  remaining: number;
  /** When the window ends, in milliseconds since 1970; in the past when nothing was asked lately. */
  resetsAt: number;
  /** Since when nobody got a usable answer; nothing while the service answers. */
  failingSince?: number;
  /** When it was last seen to fail since then. */
  failedAt?: number;
  /** How many new actions may still be sent in this window, as far as one can tell; when it is over, in the next one. */
  room: number;
}

/** The budget has nothing left for this priority until `until`: come back then; it is nobody's failure. */
export class BudgetSpentError extends CaretakerError {
  readonly code = 'BUDGET_SPENT';
  constructor(
    readonly account: string,
    readonly until: number,
  ) {
    super(`The request budget of the account "${account}" is spent until ${new Date(until).toISOString()}.`);
  }
}

export interface Budget {
  /**
   * Takes one request, waiting for it as long as it takes. Rejects only with the signal's reason.
   *
   * Whoever takes must `learn` afterwards, whatever became of the request: others may be waiting for what it tells.
   */
  take(priority: Priority, signal?: AbortSignal): Promise<Ticket>;
  /**
   * Takes one request if it can be had at once or nearly so.
   *
   * @throws {BudgetSpentError} when it cannot: no slot and no connection is held while waiting for a window.
   */
  takeNow(priority: Priority): Promise<Ticket>;
  /**
   * Corrects the count by what an answer said, or frees the scout's place when nothing was found out (`undefined`): the
   * request was not sent after all, or given up.
   */
  learn(ticket: Ticket, news: WindowNews | undefined): Promise<void>;
  state(): Promise<BudgetState>;
  /** How many requests were let go for each priority, by every process; starts over when nothing was asked for an hour. */
  letGo(): Promise<Record<Priority, number>>;
  /** Who uses the window under way, and what others use. */
  usage(): Promise<BudgetUsage>;
}

/**
 * The share of what may be spent that is each one's own in every window: the others leave it what it may still ask for of
 * that, as `kept_from` in `scripts.ts` reckons. What is left is given to all before the window ends.
 */
const shares: Record<Priority, number> = { person: 0.12, control: 0.02, follow: 0.06, action: 0.05 };
/** Who comes without notice: what they used before says nothing of when they come again. */
const sudden: readonly Priority[] = ['person', 'control'];
const SHARES = JSON.stringify(
  priorities.map((priority) => [priority, shares[priority], sudden.includes(priority)]),
);

const WINDOW_MS = 60_000;
/** How long everybody waits for a scout before another one goes. */
const SCOUT_MS = 10_000;
/** A wait shorter than this is slept through in place even by those who hold a slot: a scout is usually back by then. */
const SHORT_MS = 400;
/** An answer of Redis that took longer was given for another moment: Redis was away meanwhile. */
const STALE_MS = 2_000;

/**
 * Opens the budget of one account. `clock` must agree between the processes that share it.
 *
 * While Redis is away, all but `take` and `takeNow` of a budget with `whenRedisIsDown: 'share'` wait for it.
 */
export function openBudget(
  redis: Redis | Cluster,
  clock: Clock,
  account: string,
  { requestsPerMinute, reserve, whenRedisIsDown = 'stop', process = 'unnamed', address = '' }: BudgetOptions,
): Budget {
  const key = `{caretaker}:budget:${account}`;
  const uses = `${key}:use:`;
  const at = createHash('sha256').update(address).digest('hex').slice(0, 12);
  const alone = new Alone(clock, { requestsPerMinute, reserve });
  /** What the connection says; a process that has only just begun to connect is not cut off. */
  const isAway = () => ['reconnecting', 'close', 'end'].includes(redis.status);
  const common = () => [clock.now(), requestsPerMinute, reserve, WINDOW_MS, SHARES];

  /** `waitMs` is 0 when a request may go, else the time after which to ask again; `awayMs` for those who leave. */
  const ask = async (priority: Priority, signal?: AbortSignal): Promise<Asked> => {
    for (;;) {
      if (whenRedisIsDown === 'share' && isAway()) return alone.ask();
      const askedAt = clock.now();
      const asking = runScript(redis, TAKE, [key, uses], [...common(), SCOUT_MS, priority, process, at]);
      const heard = whenRedisIsDown === 'share' ? unlessClosed(redis, asking) : asking;
      const answer = (await unlessAborted(heard, signal)) as
        | [number, number, number, number, number?]
        | undefined;
      if (!answer) continue;
      // It stands for a request that goes now, not when Redis went away; one too many is counted, which harms nobody.
      if (clock.now() - askedAt > STALE_MS) continue;
      const [waitMs, window, awayMs, processes, failing] = answer;
      alone.processes = processes;
      return { waitMs, awayMs, ticket: { window, ...(failing ? { amidOutage: true } : {}) } };
    }
  };

  return {
    async take(priority, signal) {
      for (;;) {
        signal?.throwIfAborted();
        const { waitMs, ticket } = await ask(priority, signal);
        if (waitMs === 0) return ticket;
        await clock.sleep(waitMs, signal);
      }
    },
    async takeNow(priority) {
      const giveUpAt = clock.now() + SHORT_MS;
      for (;;) {
        const { waitMs, awayMs, ticket } = await ask(priority);
        if (waitMs === 0) return ticket;
        const now = clock.now();
        if (now + waitMs > giveUpAt) throw new BudgetSpentError(account, now + awayMs);
        await clock.sleep(waitMs);
      }
    },
    async learn({ window }, news) {
      alone.learn(news);
      // Redis would hear of it when it is back, and take it for news of another window.
      if (isAway() && whenRedisIsDown === 'share') return;
      if (isAway()) throw new Error('Redis is away');
      const given = (value: number | undefined) => value ?? '';
      await runScript(
        redis,
        LEARN,
        [key],
        [
          clock.now(),
          news?.kind ?? 'none',
          given(news?.limit),
          given(news?.remaining),
          given(news?.resetMs),
          WINDOW_MS,
          window,
          at,
        ],
      );
    },
    async state() {
      const [hash, room] = await Promise.all([
        redis.hgetall(key),
        runScript(redis, ROOM, [key, uses], [...common(), 'action']),
      ]);
      const limit = Number(hash['limit'] ?? requestsPerMinute);
      const resetsAt = Number(hash['resets'] ?? 0);
      return {
        limit,
        remaining: clock.now() >= resetsAt ? limit : Number(hash['remaining']),
        resetsAt,
        ...(hash['failing'] && hash['failing-at'] === at
          ? { failingSince: Number(hash['failing']), failedAt: Number(hash['failed']) }
          : {}),
        room: Number(room),
      };
    },
    async letGo() {
      const counts = await redis.hmget(key, ...priorities.map((priority) => `let-go:${priority}`));
      const pairs = priorities.map((priority, index) => [priority, Number(counts[index] ?? 0)] as const);
      return Object.fromEntries(pairs) as Record<Priority, number>;
    },
    async usage() {
      const hash = await redis.hgetall(key);
      const now = clock.now();
      const limit = Number(hash['limit'] ?? requestsPerMinute);
      const resetsAt = Number(hash['resets'] ?? 0);
      const others = othersPerMinute(hash, limit, now);
      const known = hash['known'] === '1' && now < resetsAt;
      const spent = known ? spentIn(hash, limit, await redis.hgetall(`${uses}${hash['window']}`)) : undefined;
      return {
        limit,
        reserved: Math.round(limit * reserve),
        ...(spent ? { window: { remaining: Number(hash['remaining']), resetsAt, ...spent } } : {}),
        ...(others === undefined ? {} : { othersPerMinute: others }),
      };
    },
  };
}

interface Asked {
  waitMs: number;
  awayMs: number;
  ticket: Ticket;
}

/** What `asking` gives, or nothing when the connection closes before: its command is sent again when Redis is back. */
function unlessClosed(redis: Redis | Cluster, asking: Promise<unknown>): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const leave = () => resolve(undefined);
    redis.once('close', leave);
    asking.then(resolve, reject).finally(() => redis.off('close', leave));
  });
}

/** What `asking` gives, unless the signal aborts before: nobody can be made to wait for a Redis that is away. */
function unlessAborted<T>(asking: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return asking;
  return new Promise((resolve, reject) => {
    const leave = () => reject(signal.reason as Error);
    if (signal.aborted) leave();
    signal.addEventListener('abort', leave, { once: true });
    asking.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave));
  });
}
