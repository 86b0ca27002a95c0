/**
 * The rooms put together: one opened Caretaker is a connection to Redis with records, queues, engine and accounts on
 * it. Commands and daemon alike work through it.
 */
import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { openBudget } from '../budget/budget.ts';
import { openClient } from '../client/client.ts';
import { type Clock, steadyClock } from '../clock.ts';
import { createEngine, type Engine } from '../engine/engine.ts';
import type { AccountLink } from '../engine/parts.ts';
import type { Registry } from '../job/registry.ts';
import type { Log } from '../log.ts';
import { createNotifier } from '../notify/notifier.ts';
import { openQueues, type Queues } from '../queue/queues.ts';
import { openRecords, type Records } from '../records/records.ts';
import { accountOf } from '../settings/account.ts';
import type { Settings } from '../settings/settings.ts';
import { type Connected, connectRedis } from './connect.ts';
import { loadJobs } from './jobs.ts';
import { keepRight, redisClock } from './redis-clock.ts';

export interface Caretaker {
  /** Those it was opened with, with what was taken over since. */
  readonly settings: Settings;
  /** Takes over what can be changed while at work: who is told, which days are left out, how long things are kept. */
  take(changed: Pick<Settings, 'notifications' | 'calendars' | 'retention'>): void;
  readonly records: Records;
  readonly queues: Queues;
  readonly engine: Engine;
  readonly registry: Registry;
  readonly clock: Clock;
  readonly log: Log;
  /** Unique for this process and this opening. */
  readonly owner: string;
  /** Where Redis is, safe to show. */
  readonly redis: Connected;
  /** The link to an account, opened when first asked for. */
  link(account: string): AccountLink;
  /** Where links were opened: the accounts that this process has to do with. */
  linked(): string[];
  /** Answers that deviated from the contract, by operation and field, since opening. */
  readonly drift: ReadonlyMap<string, number>;
  close(): Promise<void>;
}

export interface CaretakerOptions {
  settings: Settings;
  log: Log;
  /** Default: the machine's, set right by Redis's. A test hands in its own. */
  clock?: Clock;
}

/** How long the queues are given to end well. */
const CLOSE_MS = 5_000;
/** Different deviations that are remembered; a service that invents new ones without end is only counted. */
const MOST_DRIFT = 200;

/**
 * Opens Caretaker on the Redis of the settings. Nothing is asked of the service yet.
 *
 * @throws {RedisUnreachableError} {RedisMissingError}
 */
export async function openCaretaker({ settings, log, clock: given }: CaretakerOptions): Promise<Caretaker> {
  const [redis, registry] = await Promise.all([
    connectRedis(settings.redis, settings.dataDir, log),
    loadJobs(),
  ]);
  const shared = given ? undefined : await redisClock(redis.store, steadyClock);
  const clock = given ?? shared ?? steadyClock;
  const letClockBe = shared && keepRight(shared, log);
  const records = openRecords(redis.store);
  const queues = openQueues(redis.store, log);
  const owner = `${hostname()}.${process.pid}.${randomBytes(4).toString('hex')}`;
  const links = new Map<string, AccountLink>();
  const drift = new Map<string, number>();

  const link = (name: string): AccountLink => {
    const open = links.get(name);
    if (open) return open;
    const account = accountOf(settings, name);
    const budget = openBudget(redis.store, clock, name, {
      ...account.budget,
      process: owner,
      address: account.baseUrl,
    });
    const client = openClient({
      account,
      budget,
      clock,
      log,
      onDrift({ operation, field, message }) {
        const key = `${operation} ${field}`;
        if (!drift.has(key) && drift.size < MOST_DRIFT) log.warn({ operation, field }, `drift: ${message}`);
        if (drift.has(key) || drift.size < MOST_DRIFT) drift.set(key, (drift.get(key) ?? 0) + 1);
      },
    });
    links.set(name, { client, budget });
    return { client, budget };
  };

  const serves = (name: string): boolean => {
    const known = settings.accounts[name];
    return known?.baseUrl !== undefined && known.token !== undefined;
  };

  // Told beside the work, which must not wait for a slow receiver; waited for when closing.
  const tellings = new Set<Promise<void>>();
  let current = settings;
  const receivers = {
    get notifications() {
      return current.notifications;
    },
  };
  const notifier = createNotifier({ settings: receivers, clock, log });
  const engine = createEngine({
    records,
    queues,
    registry,
    clock,
    log,
    link,
    serves,
    owner,
    onRunEnded(run, policy) {
      const telling = notifier.runEnded(run, policy).finally(() => tellings.delete(telling));
      tellings.add(telling);
    },
  });

  return {
    get settings() {
      return current;
    },
    take({ notifications, calendars, retention }) {
      current = { ...current, notifications, calendars, retention };
    },
    records,
    queues,
    engine,
    registry,
    clock,
    log,
    owner,
    redis,
    link,
    linked: () => [...links.keys()],
    drift,
    async close() {
      await Promise.all(tellings);
      letClockBe?.();
      await Promise.all([...links.values()].map(({ client }) => client.close()));
      // Whatever a queue still waits for in a Redis that is away, the connection is hung up.
      await Promise.race([queues.close(), new Promise((done) => setTimeout(done, CLOSE_MS).unref())]);
      await redis.close();
    },
  };
}
