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
import type { Cluster, Redis } from 'ioredis';
import type { Clock } from '../clock.ts';
import { CaretakerError } from '../errors.ts';
import { LEARN, TAKE } from './scripts.ts';

/** Who waits for a request, most urgent first. */
export const priorities = ['person', 'control', 'follow', 'action'] as const;
export type Priority = (typeof priorities)[number];

/** What an answer said of the window; `resetMs` is the time left, as `X-RateLimit-Reset` gives it in seconds. */
export interface WindowNews {
  limit?: number;
  remaining?: number;
  resetMs?: number;
  /**
   * `limited` is a 429: nothing is left, whatever the numbers say. `failed` is a 5xx, or no answer at all: a sign of
   * trouble, not of life.
   */
  kind: 'answered' | 'limited' | 'failed';
}

/** Proof that a request was let go, and in which window; goes back with what became of it. */
export interface Ticket {
  readonly window: number;
}

export interface BudgetOptions {
  /** What the account is allowed as long as the service has not told its own figure, which counts from then on. */
  requestsPerMinute: number;
  /** The share of the limit, 0 to 1, that is never spent: it is left for people using the same account. */
  reserve: number;
}

export interface BudgetState {
  limit: number;
  /** Of the window as last seen, the reserve included; all of the limit once that window is over. */
  remaining: number;
  /** When the window ends, in milliseconds since 1970; in the past when nothing was asked lately. */
  resetsAt: number;
  /** When the service last answered anybody with anything but a failure. */
  answeredAt: number;
  /** Since when nobody got a usable answer; nothing while the service answers. */
  failingSince?: number;
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
  /** How many requests may still go out in this window, as far as one can tell; when it is over, in the next one. */
  room(): Promise<number>;
}

/** The share of the limit that a priority leaves to the more urgent ones; it melts away towards the window's end. */
const floors: Record<Priority, number> = { person: 0, control: 0.01, follow: 0.02, action: 0.06 };

const WINDOW_MS = 60_000;
/** How long everybody waits for a scout before another one goes. */
const SCOUT_MS = 10_000;
/** A wait shorter than this is slept through in place even by those who hold a slot: a scout is usually back by then. */
const SHORT_MS = 400;

/** Opens the budget of one account. `clock` must agree between the processes that share it. */
export function openBudget(
  redis: Redis | Cluster,
  clock: Clock,
  account: string,
  { requestsPerMinute, reserve }: BudgetOptions,
): Budget {
  const key = `{caretaker}:budget:${account}`;

  /** `waitMs` is 0 when a request may go, else the time after which to ask again; `awayMs` for those who leave. */
  const ask = async (priority: Priority): Promise<{ waitMs: number; awayMs: number; ticket: Ticket }> => {
    const floor = floors[priority];
    const [waitMs, window, awayMs = waitMs] = (await redis.eval(
      TAKE,
      1,
      key,
      clock.now(),
      requestsPerMinute,
      reserve,
      floor,
      WINDOW_MS,
      SCOUT_MS,
      priority,
    )) as [number, number, number | undefined];
    return { waitMs, awayMs, ticket: { window } };
  };

  const state = async (): Promise<BudgetState> => {
    const window = await redis.hgetall(key);
    const limit = Number(window['limit'] ?? requestsPerMinute);
    const resetsAt = Number(window['resets'] ?? 0);
    return {
      limit,
      remaining: clock.now() >= resetsAt ? limit : Number(window['remaining']),
      resetsAt,
      answeredAt: Number(window['answered'] ?? 0),
      ...(window['failing'] ? { failingSince: Number(window['failing']) } : {}),
    };
  };

  return {
    async take(priority, signal) {
      for (;;) {
        signal?.throwIfAborted();
        const { waitMs, ticket } = await ask(priority);
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
      const given = (value: number | undefined) => value ?? '';
      await redis.eval(
        LEARN,
        1,
        key,
        clock.now(),
        news?.kind ?? 'none',
        given(news?.limit),
        given(news?.remaining),
        given(news?.resetMs),
        WINDOW_MS,
        window,
      );
    },
    state,
    async letGo() {
      const counts = await redis.hmget(key, ...priorities.map((priority) => `let-go:${priority}`));
      const pairs = priorities.map((priority, index) => [priority, Number(counts[index] ?? 0)] as const);
      return Object.fromEntries(pairs) as Record<Priority, number>;
    },
    async room() {
      const { limit, remaining, resetsAt } = await state();
      const room = remaining - Math.round(limit * reserve);
      // Somebody has to go ahead into a new window, however little it seems to have.
      return Math.max(room, clock.now() >= resetsAt ? 1 : 0);
    },
  };
}
