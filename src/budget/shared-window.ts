/**
 * The window of one account, shared by all processes through Redis: runs the scripts with named arguments.
 * The caller passes the time.
 */
import type { Cluster, Redis } from 'ioredis';
import { AccountMovedError } from '../contract/service-address.ts';
import { runGrouped } from '../redis/grouped-script.ts';
import { runScript } from '../redis/run-script.ts';
import { type BudgetBucket, type HistorySpan, type ReadBuckets, readHistory } from './history.ts';
import { AVAILABLE, LEARN, TAKE } from './scripts.ts';
import type { Decision, RequestClass, Ticket, WindowReport } from './ticket.ts';

/** The hash of the records with the address of the service that those of each account belong to. */
const ADDRESSES = '{caretaker}:addresses';
/** The assumed length of a window until an answer has shown it. */
const WINDOW_MS = 60_000;
/** How long other requests wait for a scout before another one is sent. */
const SCOUT_TIMEOUT_MS = 10_000;

/** As in the settings: see `BudgetOptions`. */
export interface SharedLimits {
  requestsPerMinute: number;
  reserve: number;
}

interface Asker {
  /** The name of this process in the usage of a window. */
  process: string;
  /** A digest of the address of the service, which distinguishes addresses. */
  digest: string;
  /** The address of the service; '' when it is not known. */
  service: string;
}

/** The hashes of an account as they are stored: see `scripts.ts`. */
export type Fields = Record<string, string>;

export class SharedWindow {
  private readonly key: string;
  private readonly usagePrefix: string;
  private readonly historyPrefix: string;
  private readonly buckets: ReadBuckets = new Map();

  constructor(
    private readonly redis: Redis | Cluster,
    private readonly account: string,
    private readonly options: SharedLimits & Asker,
  ) {
    this.key = `{caretaker}:budget:${account}`;
    this.usagePrefix = `${this.key}:use:`;
    this.historyPrefix = `${this.key}:spent:`;
  }

  /**
   * Grants a request, or returns how long to wait. `processes` is how many share the account.
   *
   * @throws {AccountMovedError} when the account's records belong to another service.
   */
  async take(
    now: number,
    requestClass: RequestClass,
    policy?: string,
  ): Promise<Decision & { processes: number }> {
    const { account } = this;
    const { process, digest, service } = this.options;
    const asked = {
      class: requestClass,
      policy: policy ?? '',
      process,
      address: digest,
      account,
      service,
      scout_timeout: SCOUT_TIMEOUT_MS,
    };
    // Many targets ask for a request at the same time.
    const reply = await this.run(TAKE, now, asked, runGrouped);
    const decided = JSON.parse(String(reply)) as TakeReply | { moved: string };
    if ('moved' in decided) throw new AccountMovedError(account, service, decided.moved);
    return {
      waitMs: decided.wait,
      retryAfterMs: decided.retry_after,
      ticket: { window: decided.window, ...(decided.during_outage ? { duringOutage: true } : {}) },
      processes: decided.processes,
    };
  }

  /** Corrects the count. Without a report, the request showed nothing. */
  async learn(now: number, { window }: Ticket, report: WindowReport | undefined): Promise<void> {
    await this.run(LEARN, now, {
      window,
      kind: report?.kind ?? 'unknown',
      limit: finite(report?.limit),
      remaining: finite(report?.remaining),
      reset: finite(report?.resetMs),
      address: this.options.digest,
    });
  }

  /** How many requests a class may still send in this window, or in the next one if it has ended. */
  async available(now: number, requestClass: RequestClass): Promise<number> {
    return Number(await this.run(AVAILABLE, now, { class: requestClass }));
  }

  fields(): Promise<Fields> {
    return this.redis.hgetall(this.key);
  }

  /** What was granted in a window, by class and by process (`@<process>`). */
  granted(window: string | undefined): Promise<Fields> {
    return this.redis.hgetall(`${this.usagePrefix}${window}`);
  }

  /** What was spent in each bucket of a span, oldest first. */
  history(span: HistorySpan, now: number): Promise<BudgetBucket[]> {
    return readHistory(this.redis, this.historyPrefix, span, now, this.buckets);
  }

  private run(
    script: string,
    now: number,
    args: Record<string, unknown>,
    send = runScript,
  ): Promise<unknown> {
    const { requestsPerMinute, reserve } = this.options;
    const common = { now, default_limit: requestsPerMinute, reserve, default_length: WINDOW_MS };
    return send(
      this.redis,
      script,
      [this.key, this.usagePrefix, this.historyPrefix, ADDRESSES],
      [JSON.stringify({ ...common, ...args })],
    );
  }
}

interface TakeReply {
  wait: number;
  retry_after: number;
  window: number;
  processes: number;
  during_outage?: boolean;
}

/** JSON has no infinity: a number with hundreds of digits counts as missing. */
const finite = (value: number | undefined) => (Number.isFinite(value) ? value : undefined);
