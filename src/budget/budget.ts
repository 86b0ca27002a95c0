/**
 * The requests per minute that an account has, shared by every process through one small hash in Redis.
 *
 * The service counts in fixed windows. Each answer reports how many requests are left and in how many seconds
 * the window ends (spec 8). We keep our own count for the window: every granted request lowers it
 * immediately, and every answer corrects it, so that requests of other clients are counted too. When a window
 * ends, the numbers of the next one are unknown. One request, the scout, is sent first, and all others wait
 * for its answer. So a changed limit, a clock that differs, or another client that used up the window costs
 * one request in total, not one per process. Each request has a ticket with its window, so that a late answer
 * is not taken for the scout's. docs/budget.md shows a window.
 */
import { createHash } from 'node:crypto';
import type { Cluster, Redis } from 'ioredis';
import type { Clock } from '../clock.ts';
import { serviceAddress } from '../contract/service-address.ts';
import { CaretakerError } from '../errors.ts';
import type { BudgetBucket, HistorySpan } from './history.ts';
import { Reports } from './reports.ts';
import { type SharedLimits, SharedWindow } from './shared-window.ts';
import type { Decision, RequestClass, Ticket, WindowReport } from './ticket.ts';
import { type BudgetUsage, countOf, failureOf, grantedIn, isInProgress, usageOf } from './usage.ts';

export interface BudgetOptions {
  /** The account's limit. Used until the service has reported its own limit. */
  requestsPerMinute: number;
  /**
   * The percentage of the limit, 0 to 1, that is never spent. It is left for people using the same account.
   */
  reserve: number;
  /**
   * What happens to requests while Redis is unavailable. `stop`: they wait. `share`: this process continues
   * with an equal part of the account's limit. Default `stop`.
   */
  whenRedisIsDown?: 'stop' | 'share';
  /** The name of this process in `usage`. */
  process?: string;
  /**
   * The base URL of the service. An outage at one address says nothing about another address, and no request is granted
   * to an address that the account's records do not belong to.
   */
  address?: string | undefined;
  /** Called when a request of a person has to wait for more than a moment, until a time in milliseconds since 1970. */
  onWait?: ((until: number) => void) | undefined;
}

export interface BudgetState {
  limit: number;
  /**
   * The requests left in the window as last seen, including the reserve; the whole limit once that window has
   * ended.
   */
  remaining: number;
  /** When the window ends, in milliseconds since 1970. In the past if there was no request recently. */
  resetsAt: number;
  /** Since when no request got a usable answer; undefined while the service answers. */
  failingSince?: number;
  /** The last failure since then. */
  failedAt?: number;
  /** How many requests each class was granted, in all processes, since there was last an hour without requests. */
  granted: Record<RequestClass, number>;
}

/**
 * The budget has nothing left for this class of requests until `until`. This is not a failure; try again
 * then.
 */
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
   * Takes one request, and waits for it without a time limit. Rejects only with the signal's reason, and when the
   * account's records belong to another address (`AccountMovedError`). `policy`: whose run needs it, for the history.
   *
   * The caller must call `learn` afterwards, whatever the result of the request: others may be waiting for
   * its report.
   */
  take(requestClass: RequestClass, signal?: AbortSignal, policy?: string): Promise<Ticket>;
  /**
   * Takes one request if it is granted immediately or after a short wait.
   *
   * @throws {BudgetSpentError} otherwise, so that no slot and no connection is held while waiting for a
   * window.
   */
  takeNow(requestClass: RequestClass, policy?: string): Promise<Ticket>;
  /**
   * Corrects the count from the report of an answer. Without a report, the request was not sent or was
   * aborted; if it was the scout, the next request becomes the scout.
   */
  learn(ticket: Ticket, report: WindowReport | undefined): Promise<void>;
  state(): Promise<BudgetState>;
  /**
   * How many requests of the class `action` may still be sent in this window, or in the next one if it has
   * ended. An estimate.
   */
  availableForActions(): Promise<number>;
  /** Who uses the window in progress, and how much other clients use. */
  usage(): Promise<BudgetUsage>;
  /** What was spent in the last hour by the minute, or in the last day or week by the hour, oldest first. */
  history(span: HistorySpan): Promise<BudgetBucket[]>;
}

/** Callers that hold a slot wait in place for less than this. A scout usually returns within this time. */
const MAX_SHORT_WAIT_MS = 400;
/** A person who waits longer than this is told until when. */
const LONG_WAIT_MS = 2_000;
/** A decision that took longer is outdated: Redis was unavailable meanwhile. */
const MAX_DECISION_AGE_MS = 2_000;

/**
 * Opens the budget of one account. All processes that share it must use the same `clock`.
 *
 * While Redis is unavailable, every method waits for it, except `take` and `takeNow` with `whenRedisIsDown:
 * 'share'`.
 */
export function openBudget(
  redis: Redis | Cluster,
  clock: Clock,
  account: string,
  { whenRedisIsDown = 'stop', process = 'unnamed', address = '', onWait, ...limits }: BudgetOptions,
): Budget {
  const digest = createHash('sha256').update(address).digest('hex').slice(0, 12);
  const service = serviceAddress(address);
  const window = new SharedWindow(redis, account, { ...limits, process, digest, service });
  const decisions = new Decisions(redis, clock, window, { ...limits, whenRedisIsDown });
  return {
    async take(requestClass, signal, policy) {
      let isSaid = requestClass !== 'person';
      for (;;) {
        signal?.throwIfAborted();
        const { waitMs, retryAfterMs, ticket } = await decisions.next(requestClass, signal, policy);
        if (waitMs === 0) return ticket;
        if (!isSaid && retryAfterMs > LONG_WAIT_MS) {
          isSaid = true;
          onWait?.(clock.now() + retryAfterMs);
        }
        await clock.sleep(waitMs, signal);
      }
    },
    async takeNow(requestClass, policy) {
      const giveUpAt = clock.now() + MAX_SHORT_WAIT_MS;
      for (;;) {
        const { waitMs, retryAfterMs, ticket } = await decisions.next(requestClass, undefined, policy);
        if (waitMs === 0) return ticket;
        const now = clock.now();
        if (now + waitMs > giveUpAt) throw new BudgetSpentError(account, now + retryAfterMs);
        await clock.sleep(waitMs);
      }
    },
    learn: (ticket, report) => decisions.learn(ticket, report),
    async state() {
      const fields = await window.fields();
      return {
        ...countOf(fields, limits.requestsPerMinute, clock.now()),
        ...failureOf(fields, digest),
        granted: grantedIn(fields),
      };
    },
    availableForActions: () => window.available(clock.now(), 'action'),
    history: (span) => window.history(span, clock.now()),
    async usage() {
      const fields = await window.fields();
      const now = clock.now();
      const granted = isInProgress(fields, now) ? await window.granted(fields['window']) : undefined;
      return usageOf(fields, granted, limits, now);
    },
  };
}

/**
 * Decides about requests: in Redis, or in this process while Redis is unavailable and the settings allow it.
 */
class Decisions {
  private readonly fallback: LocalFallback;
  private readonly reports: Reports;
  private readonly connection: { readonly isLost: boolean };

  constructor(
    private readonly redis: Redis | Cluster,
    private readonly clock: Clock,
    private readonly window: SharedWindow,
    private readonly options: SharedLimits & { whenRedisIsDown: 'stop' | 'share' },
  ) {
    this.fallback = new LocalFallback(clock, options);
    this.connection = connectionOf(redis);
    this.reports = new Reports((ticket, report, at) => window.learn(at, ticket, report));
  }

  async next(requestClass: RequestClass, signal?: AbortSignal, policy?: string): Promise<Decision> {
    for (;;) {
      if (this.hasFallback && this.isRedisDown) return this.fallback.take();
      const askedAt = this.clock.now();
      const asking = this.window.take(askedAt, requestClass, policy);
      const answer = await unlessAborted(
        this.hasFallback ? unlessClosed(this.redis, asking) : asking,
        signal,
      );
      if (!answer) continue;
      // The decision must be about the current time, not the time at which Redis became unavailable. The lost
      // grant is only one request too few.
      if (this.clock.now() - askedAt > MAX_DECISION_AGE_MS) continue;
      this.fallback.processes = answer.processes;
      return answer;
    }
  }

  async learn(ticket: Ticket, report: WindowReport | undefined): Promise<void> {
    this.fallback.learn(report);
    // Redis would receive the report later and apply it to another window.
    if (this.isRedisDown && this.hasFallback) return;
    if (this.isRedisDown) throw new Error('Redis is unavailable');
    await this.reports.learn(ticket, report, this.clock.now());
  }

  private get hasFallback(): boolean {
    return this.options.whenRedisIsDown === 'share';
  }

  private get isRedisDown(): boolean {
    return this.connection.isLost;
  }
}

/** A connection has two listeners, however many budgets share it. */
const connections = new WeakMap<Redis | Cluster, { isLost: boolean }>();

/**
 * Follows a connection. It is lost from its close until it is ready, also while it is being opened again. One that is
 * still being opened for the first time is not lost.
 */
function connectionOf(redis: Redis | Cluster): { readonly isLost: boolean } {
  const known = connections.get(redis);
  if (known) return known;
  const connection = { isLost: ['reconnecting', 'close', 'end'].includes(redis.status) };
  connections.set(redis, connection);
  redis.on('close', () => {
    connection.isLost = true;
  });
  redis.on('ready', () => {
    connection.isLost = false;
  });
  return connection;
}

/**
 * The result of `asking`, or undefined if the connection closes first: ioredis sends the command again when
 * Redis is back.
 */
function unlessClosed<T>(redis: Redis | Cluster, asking: Promise<T>): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const onEnd = () => resolve(undefined);
    redis.once('close', onEnd);
    asking.then(resolve, reject).finally(() => redis.off('close', onEnd));
  });
}

/** The result of `asking`, unless the signal aborts first, so that no caller has to wait for Redis. */
function unlessAborted<T>(asking: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return asking;
  return new Promise((resolve, reject) => {
    const onEnd = () => reject(signal.reason as Error);
    if (signal.aborted) onEnd();
    signal.addEventListener('abort', onEnd, { once: true });
    asking.then(resolve, reject).finally(() => signal.removeEventListener('abort', onEnd));
  });
}

/**
 * What a process may send while Redis is unavailable and the use by other processes is unknown: an equal part
 * of the limit.
 *
 * It counts in windows of its own and follows the answers of the service. When they show that only the
 * reserve is left, or after a 429, nothing is sent until the service's window ends.
 */
const WINDOW_MS = 60_000;
/** The window number of tickets that Redis does not count. */
const NO_WINDOW = -1;

export class LocalFallback {
  /** How many processes shared the account when Redis last answered. */
  processes = 1;
  private limit: number;
  private sent = 0;
  private endsAt = 0;
  /** Until when the account has no requests left, whichever client used them. */
  private emptyUntil = 0;

  constructor(
    private readonly clock: Clock,
    private readonly options: { requestsPerMinute: number; reserve: number },
  ) {
    this.limit = options.requestsPerMinute;
  }

  /** Grants one request, or returns how long to wait. */
  take(): Decision {
    const now = this.clock.now();
    if (now >= this.endsAt) {
      this.endsAt = now + WINDOW_MS;
      this.sent = 0;
    }
    const spendable = this.limit - Math.round(this.limit * this.options.reserve);
    const part = Math.max(1, Math.floor(spendable / Math.max(1, this.processes)));
    const waitMs = Math.max(this.emptyUntil - now, this.sent < part ? 0 : this.endsAt - now, 0);
    if (waitMs === 0) this.sent += 1;
    return { waitMs, retryAfterMs: waitMs, ticket: { window: NO_WINDOW } };
  }

  /**
   * Records every report, also while Redis is available, so that the numbers are current when they are
   * needed.
   */
  learn(report: WindowReport | undefined): void {
    if (!report || report.kind === 'failed') return;
    this.limit = report.limit ?? this.limit;
    const empty = report.kind === 'limited' || (report.remaining ?? 1) <= this.limit * this.options.reserve;
    if (empty && (report.resetMs !== undefined || report.kind === 'limited'))
      this.emptyUntil = this.clock.now() + (report.resetMs ?? WINDOW_MS);
  }
}
