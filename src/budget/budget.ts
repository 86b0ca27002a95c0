/**
 * The requests per minute that an account has, shared by every process through one small hash in Redis.
 *
 * The service counts in fixed windows. Each answer reports how many requests are left and in how many seconds
 * the window ends (spec 8). We keep our own count of the window: every request that is granted lowers it at
 * once, and every answer corrects it, so that other clients of the account are seen too. When a window ends,
 * the numbers of the next one are unknown: a single request, the scout, goes ahead, and everybody else waits
 * for its answer. A change of limit, a clock that differs, or somebody who used up the window thus costs one
 * request in all, not one for each process. Each request has a ticket of the window it was granted in, so
 * that an answer that comes late is not taken for the scout's. docs/budget.md shows a window.
 */
import { createHash } from 'node:crypto';
import type { Cluster, Redis } from 'ioredis';
import type { Clock } from '../clock.ts';
import { CaretakerError } from '../errors.ts';
import { LocalFallback } from './local-fallback.ts';
import type { RequestClass } from './request-class.ts';
import { type SharedLimits, SharedWindow } from './shared-window.ts';
import type { Decision, Ticket, WindowReport } from './ticket.ts';
import { type BudgetUsage, countOf, failureOf, grantedIn, isInProgress, usageOf } from './usage.ts';

export interface BudgetOptions {
  /** The limit of the account, until the service has reported its own, which counts from then on. */
  requestsPerMinute: number;
  /** The share of the limit, 0 to 1, that is never spent: it is left for people using the same account. */
  reserve: number;
  /**
   * What happens to requests while Redis is away: `stop`, they wait for it, or `share`, this process goes on
   * with an equal part of the account's limit. Default `stop`.
   */
  whenRedisIsDown?: 'stop' | 'share';
  /** The name of this process in `usage`. */
  process?: string;
  /** Where the service is asked: that it did not answer at another address means nothing for this one. */
  address?: string | undefined;
}

export interface BudgetState {
  limit: number;
  /** Of the window as last seen, including the reserve; the whole limit once that window is over. */
  remaining: number;
  /** When the window ends, in milliseconds since 1970; in the past when nothing was asked lately. */
  resetsAt: number;
  /** Since when nobody got a usable answer; nothing while the service answers. */
  failingSince?: number;
  /** When it last failed since then. */
  failedAt?: number;
  /**
   * How many requests of the class `action` may still be sent in this window; when it is over, in the next
   * one. An estimate.
   */
  availableForActions: number;
}

/** The budget has nothing left for this class of requests until `until`: not a failure, come back then. */
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
   * Whoever takes must call `learn` afterwards, whatever became of the request: others may be waiting for its
   * report.
   */
  take(requestClass: RequestClass, signal?: AbortSignal): Promise<Ticket>;
  /**
   * Takes one request if it is granted at once or after a short wait.
   *
   * @throws {BudgetSpentError} when it is not: no slot and no connection is held while waiting for a window.
   */
  takeNow(requestClass: RequestClass): Promise<Ticket>;
  /**
   * Corrects the count by what an answer reported. Without a report the request was not sent after all, or
   * given up; if it was the scout, the next request goes ahead.
   */
  learn(ticket: Ticket, report: WindowReport | undefined): Promise<void>;
  state(): Promise<BudgetState>;
  /**
   * How many requests each class was granted, by every process; starts over when nothing was asked for an
   * hour.
   */
  granted(): Promise<Record<RequestClass, number>>;
  /** Who uses the window in progress, and what other clients use. */
  usage(): Promise<BudgetUsage>;
}

/**
 * A wait shorter than this is slept through in place even by those who hold a slot: a scout is usually back
 * by then.
 */
const MAX_SHORT_WAIT_MS = 400;
/** An answer of Redis that took longer was given for another time: Redis was away meanwhile. */
const MAX_DECISION_AGE_MS = 2_000;

/**
 * Opens the budget of one account. `clock` must agree between the processes that share it.
 *
 * While Redis is away, all but `take` and `takeNow` of a budget with `whenRedisIsDown: 'share'` wait for it.
 */
export function openBudget(
  redis: Redis | Cluster,
  clock: Clock,
  account: string,
  { whenRedisIsDown = 'stop', process = 'unnamed', address = '', ...limits }: BudgetOptions,
): Budget {
  const digest = createHash('sha256').update(address).digest('hex').slice(0, 12);
  const window = new SharedWindow(redis, account, { ...limits, process, address: digest });
  const decisions = new Decisions(redis, clock, window, { ...limits, whenRedisIsDown });
  return {
    async take(requestClass, signal) {
      for (;;) {
        signal?.throwIfAborted();
        const { waitMs, ticket } = await decisions.next(requestClass, signal);
        if (waitMs === 0) return ticket;
        await clock.sleep(waitMs, signal);
      }
    },
    async takeNow(requestClass) {
      const giveUpAt = clock.now() + MAX_SHORT_WAIT_MS;
      for (;;) {
        const { waitMs, retryAfterMs, ticket } = await decisions.next(requestClass);
        if (waitMs === 0) return ticket;
        const now = clock.now();
        if (now + waitMs > giveUpAt) throw new BudgetSpentError(account, now + retryAfterMs);
        await clock.sleep(waitMs);
      }
    },
    learn: (ticket, report) => decisions.learn(ticket, report),
    async state() {
      const [fields, availableForActions] = await Promise.all([
        window.fields(),
        window.available(clock.now(), 'action'),
      ]);
      const failure = failureOf(fields, digest);
      return { ...countOf(fields, limits.requestsPerMinute, clock.now()), ...failure, availableForActions };
    },
    granted: async () => grantedIn(await window.fields()),
    async usage() {
      const fields = await window.fields();
      const now = clock.now();
      const granted = isInProgress(fields, now) ? await window.granted(fields['window']) : undefined;
      return usageOf(fields, granted, limits, now);
    },
  };
}

/** Decides about requests: in Redis, or in this process while Redis is away and the settings allow it. */
class Decisions {
  private readonly fallback: LocalFallback;

  constructor(
    private readonly redis: Redis | Cluster,
    private readonly clock: Clock,
    private readonly window: SharedWindow,
    private readonly options: SharedLimits & { whenRedisIsDown: 'stop' | 'share' },
  ) {
    this.fallback = new LocalFallback(clock, options);
  }

  async next(requestClass: RequestClass, signal?: AbortSignal): Promise<Decision> {
    for (;;) {
      if (this.hasFallback && this.isRedisAway) return this.fallback.take();
      const askedAt = this.clock.now();
      const asking = this.window.take(askedAt, requestClass);
      const answer = await unlessAborted(
        this.hasFallback ? unlessClosed(this.redis, asking) : asking,
        signal,
      );
      if (!answer) continue;
      // It holds for a request that is sent now, not when Redis went away; counting one too many harms
      // nobody.
      if (this.clock.now() - askedAt > MAX_DECISION_AGE_MS) continue;
      this.fallback.processes = answer.processes;
      return answer;
    }
  }

  async learn(ticket: Ticket, report: WindowReport | undefined): Promise<void> {
    this.fallback.learn(report);
    // Redis would receive it when it is back, and take it for a report of another window.
    if (this.isRedisAway && this.hasFallback) return;
    if (this.isRedisAway) throw new Error('Redis is away');
    await this.window.learn(this.clock.now(), ticket, report);
  }

  private get hasFallback(): boolean {
    return this.options.whenRedisIsDown === 'share';
  }

  /** As the connection shows it; a process that has only just begun to connect is not cut off. */
  private get isRedisAway(): boolean {
    return ['reconnecting', 'close', 'end'].includes(this.redis.status);
  }
}

/**
 * The result of `asking`, or nothing when the connection closes before: its command is sent again when Redis
 * is back.
 */
function unlessClosed<T>(redis: Redis | Cluster, asking: Promise<T>): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const leave = () => resolve(undefined);
    redis.once('close', leave);
    asking.then(resolve, reject).finally(() => redis.off('close', leave));
  });
}

/** The result of `asking`, unless the signal aborts before: nobody has to wait for a Redis that is away. */
function unlessAborted<T>(asking: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return asking;
  return new Promise((resolve, reject) => {
    const leave = () => reject(signal.reason as Error);
    if (signal.aborted) leave();
    signal.addEventListener('abort', leave, { once: true });
    asking.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave));
  });
}
