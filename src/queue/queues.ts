/**
 * The BullMQ queues. Only this file uses `Queue`, `Worker` and `Job`; all others use entries.
 *
 * An entry names a record, and the record says whether the work is still needed. BullMQ delivers at least once,
 * so a worker claims the target in the records first. Some ended entries are kept, only for people who look at
 * the queues: the records are the history.
 */
import { createRequire } from 'node:module';
import type { ConnectionOptions, Job, Queue, Telemetry } from 'bullmq';
import type { Cluster, Redis } from 'ioredis';
import { messageOf } from '../errors.ts';
import type { Log } from '../log.ts';
import { scrub } from '../secrets.ts';
import { Entry, keyOf, nameOf, type Report, storableReport } from './entry.ts';
import { lookAt, METRIC_MINUTES, type QueueLook } from './queue-look.ts';

export interface Handlers {
  plan(entry: Extract<Entry, { kind: 'plan' }>): Promise<Report | undefined>;
  act(entry: Extract<Entry, { kind: 'act' }>): Promise<Report | undefined>;
}

export interface Working {
  /** Takes no more entries; resolves when the active ones are done. */
  stop(): Promise<void>;
}

export interface Queues {
  /** Adds entries; one that waits or is active already is not added again. */
  put(entries: readonly Entry[]): Promise<void>;
  /** Removes every entry of a run that no worker has taken. Reads all waiting entries, a page at a time. */
  drop(run: string): Promise<void>;
  /** Works on entries, at most `concurrency` of actions and twenty of plans at the same time. */
  work(handlers: Handlers, concurrency: number): Working;
  /** Attempts deliveries, at most `concurrency` at the same time. */
  deliver(attempt: (delivery: string, to: string) => Promise<void>, concurrency: number): Working;
  /** How many entries wait and are active, by queue name. */
  counts(): Promise<Record<string, { waiting: number; active: number }>>;
  /** The names of paused queues, of which no worker gets entries. */
  paused(): Promise<string[]>;
  /** Pauses queues by their names, or all: workers get no more entries. Gives those that were not paused before. */
  pause(names?: readonly string[]): Promise<string[]>;
  /** Resumes paused queues by their names, or all; gives those that were paused. */
  resume(names?: readonly string[]): Promise<string[]>;
  /** What BullMQ knows of each queue now. */
  look(now: number): Promise<QueueLook[]>;
  /** BullMQ's own queues, only for bull-board. */
  boards(): Queue[];
  close(): Promise<void>;
}

/**
 * BullMQ is loaded when the queues are first used, since most commands never use them. `require` takes half
 * the time of `import` for its 170 modules.
 */
const require = createRequire(import.meta.url);
const bullmq = () => require('bullmq') as typeof import('bullmq');

/** The version of BullMQ. */
export const bullmqVersion = (): string => (require('bullmq/package.json') as { version: string }).version;

/** With the hash tag of the records, so that all keys of Caretaker are in one slot of a Redis Cluster. */
const QUEUES = '{caretaker}:queue';
/** Short locks, so that the entries of a dead process are found soon. */
const LOCKS = { lockDuration: 15_000, stalledInterval: 5_000, maxStalledCount: 10 };
/**
 * A worker waits this many seconds for an entry before it asks again. An entry ends the wait, so this is only for the
 * case that it does not.
 */
const WAIT_S = 15;
/** Many at once, since such an entry only starts the planning. */
const PLANS_AT_ONCE = 20;
const PAGE = 500;
/** How many ended entries of each queue are kept, completed and failed ones apart, and for how long. */
const KEPT = { count: 1_000, age: 86_400 };
/** The states of entries that have not ended; `active` ones may belong to a worker that died. */
const OPEN = ['waiting', 'prioritized', 'delayed', 'active'] as const;

/**
 * The queues, opened when they are first used. The connection has to retry without limit, as BullMQ requires,
 * and the caller closes it. `onTaken` is called when a worker of this process takes an entry for the first time.
 * With `telemetry`, BullMQ makes traces.
 */
export function openQueues(
  store: Redis | Cluster,
  log: Log,
  {
    onTaken = () => undefined,
    telemetry,
    process: owner,
  }: {
    onTaken?: (queue: string, waitedMs: number) => void;
    telemetry?: Telemetry | undefined;
    /** The id of this process, which the entries that its workers take are marked with. */
    process?: string;
  } = {},
): Queues {
  const { keyPrefix = '' } = store.options;
  const prefix = `${keyPrefix}${QUEUES}`;
  // BullMQ refuses a connection with a prefix of its own.
  let own: Redis | Cluster | undefined;
  const connectionOf = (): ConnectionOptions => {
    if (keyPrefix === '') return store;
    if (own) return own;
    own = store.isCluster
      ? (store as Cluster).duplicate([], { keyPrefix: '' })
      : (store as Redis).duplicate({ keyPrefix: '' });
    own.on('error', logError);
    return own;
  };
  const traced = telemetry ? { telemetry } : {};
  const defaults = {
    prefix,
    ...traced,
    streams: { events: { maxLen: 1000 } },
  };
  const logError = errorLog(log);
  let opened: Record<Entry['kind'], Queue> | undefined;
  const open = () => {
    const { Queue } = bullmq();
    const connection = connectionOf();
    const queues = {
      plan: new Queue('plans', { connection, ...defaults }),
      act: new Queue('actions', { connection, ...defaults }),
      deliver: new Queue('deliveries', { connection, ...defaults }),
    };
    for (const queue of Object.values(queues)) queue.on('error', logError);
    return queues;
  };
  const queues = () => {
    opened ??= open();
    return opened;
  };
  type Handle = (entry: Entry) => Promise<Report | undefined>;
  const take = (name: string, slots: number, handle: Handle) => {
    const { Worker } = bullmq();
    const process = async (job: Job) => {
      if (job.attemptsStarted === 1) onTaken(name, (job.processedOn ?? 0) - job.timestamp - job.delay);
      const report = await handle(Entry.parse(job.data)).catch((error) => Promise.reject(storable(error)));
      return report && storableReport(report);
    };
    const worker = new Worker(name, process, {
      connection: connectionOf(),
      prefix,
      concurrency: slots,
      drainDelay: WAIT_S,
      ...LOCKS,
      removeOnComplete: KEPT,
      removeOnFail: KEPT,
      metrics: { maxDataPoints: METRIC_MINUTES },
      ...(owner === undefined ? {} : { name: owner }),
      ...traced,
    });
    worker.on('error', logError);
    worker.on('failed', (job, error) => log.error({ err: error, entry: job?.data }, 'an entry failed'));
    return worker;
  };

  return {
    async put(entries) {
      for (const kind of ['plan', 'act', 'deliver'] as const) {
        const jobs = entries
          .filter((entry) => entry.kind === kind)
          .map((entry) => ({
            name: nameOf(entry),
            data: entry,
            opts: { deduplication: { id: keyOf(entry) } },
          }));
        if (jobs.length > 0) await queues()[kind].addBulk(jobs);
      }
    },
    async drop(run) {
      const { plan, act } = queues();
      for (const queue of [plan, act]) {
        const found: string[] = [];
        for (let at = 0; ; at += PAGE) {
          const page = await queue.getJobs([...OPEN], at, at + PAGE - 1);
          for (const job of page) if (runOf(job?.data) === run) found.push(job.id ?? '');
          if (page.length === 0) break;
        }
        // An entry that a worker has taken cannot be removed. The worker finds the target ended, and removes it.
        await Promise.all(found.map((id) => queue.remove(id).catch(() => 0)));
      }
    },
    work(handlers, concurrency) {
      const workers = [
        take('plans', PLANS_AT_ONCE, (entry) =>
          entry.kind === 'plan' ? handlers.plan(entry) : Promise.resolve(undefined),
        ),
        take('actions', concurrency, (entry) =>
          entry.kind === 'act' ? handlers.act(entry) : Promise.resolve(undefined),
        ),
      ];
      return {
        async stop() {
          await Promise.all(workers.map((worker) => worker.close()));
        },
      };
    },
    deliver(attempt, concurrency) {
      // What came of an attempt is in the delivery.
      const worker = take('deliveries', concurrency, async (entry) => {
        if (entry.kind === 'deliver') await attempt(entry.delivery, entry.to);
        return undefined;
      });
      return { stop: () => worker.close() };
    },
    async counts() {
      const found: Record<string, { waiting: number; active: number }> = {};
      for (const queue of Object.values(queues())) {
        const { waiting = 0, active = 0, delayed = 0, prioritized = 0 } = await queue.getJobCounts();
        found[queue.name] = { waiting: waiting + delayed + prioritized, active };
      }
      return found;
    },
    async paused() {
      const all = Object.values(queues());
      const paused = await Promise.all(all.map((queue) => queue.isPaused()));
      return all.filter((_, index) => paused[index]).map(({ name }) => name);
    },
    async pause(names) {
      const paused = await this.paused();
      const meant = Object.values(queues()).filter(
        ({ name }) => !paused.includes(name) && (names?.includes(name) ?? true),
      );
      for (const queue of meant) await queue.pause();
      return meant.map(({ name }) => name);
    },
    async resume(names) {
      const paused = await this.paused();
      const meant = Object.values(queues()).filter(
        ({ name }) => paused.includes(name) && (names?.includes(name) ?? true),
      );
      for (const queue of meant) await queue.resume();
      return meant.map(({ name }) => name);
    },
    look: (now) => Promise.all(Object.values(queues()).map((queue) => lookAt(queue, now))),
    boards: () => Object.values(queues()),
    async close() {
      await Promise.all(Object.values(opened ?? {}).map((queue) => queue.close()));
      own?.disconnect();
    },
  };
}

/** An error that is repeated is logged once in this time, with how often it came. */
const REPEATED_MS = 60_000;
/** Some messages have the id of an entry in them. */
const MAX_KNOWN_ERRORS = 100;

/**
 * Logs the errors of queues and workers. BullMQ tries some of them again at once, for ever. A lost connection is logged
 * once, where it was opened; here each queue and worker would log it again.
 */
function errorLog(log: Log): (error: Error & { syscall?: string }) => void {
  const known = new Map<string, { at: number; times: number }>();
  return (error) => {
    const isConnection =
      error.syscall !== undefined || /^(Socket timeout|UNBLOCKED|Connection is closed)/.test(error.message);
    if (isConnection) return log.debug({ err: error }, 'a queue lost its connection to Redis');
    const now = performance.now();
    const before = known.get(error.message);
    if (before && now - before.at < REPEATED_MS) {
      before.times += 1;
      return;
    }
    if (known.size >= MAX_KNOWN_ERRORS) known.clear();
    known.set(error.message, { at: now, times: 0 });
    const repeated = before && before.times > 0 ? { repeated: before.times } : {};
    log.warn({ err: error, ...repeated }, 'a queue had an error');
  };
}

/** The error without secrets: BullMQ writes its message and stack to Redis. */
function storable(error: unknown): Error {
  const clean = new Error(scrub(messageOf(error)));
  if (error instanceof Error) clean.stack = scrub(error.stack ?? '');
  return clean;
}

/** The run that an entry is about, if it is about one. */
function runOf(data: unknown): string | undefined {
  const entry = Entry.safeParse(data).data;
  return entry && 'run' in entry ? entry.run : undefined;
}
