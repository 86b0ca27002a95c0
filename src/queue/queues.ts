/**
 * The BullMQ queues. Only this file uses `Queue`, `Worker` and `Job`; all others use entries.
 *
 * An entry names a record, and the record says whether the work is still needed. BullMQ delivers at least once,
 * so a worker claims the target in the records first. Ended entries are removed: the records are the history.
 */
import { createRequire } from 'node:module';
import type { ConnectionOptions, Queue } from 'bullmq';
import { z } from 'zod';
import { messageOf } from '../errors.ts';
import type { Log } from '../log.ts';
import { scrub } from '../secrets.ts';

/** Plan a run, or act on one target of it; `fence` identifies the dispatch of the target. */
const Entry = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('plan'), run: z.string() }),
  z.object({ kind: z.literal('act'), run: z.string(), target: z.string(), fence: z.number() }),
]);
export type Entry = z.output<typeof Entry>;

export interface Handlers {
  plan(entry: Extract<Entry, { kind: 'plan' }>): Promise<void>;
  act(entry: Extract<Entry, { kind: 'act' }>): Promise<void>;
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
  /** Works on entries, at most `concurrency` actions and twenty plans at the same time. */
  work(handlers: Handlers, concurrency: number): Working;
  /** How many entries wait and are active, by queue name. */
  counts(): Promise<Record<string, { waiting: number; active: number }>>;
  /** The names of paused queues, of which no worker gets entries. */
  paused(): Promise<string[]>;
  /** Resumes every paused queue; gives their names. */
  resume(): Promise<string[]>;
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

/** With the hash tag of the records, so that all keys of Caretaker are in one slot of a Redis Cluster. */
const PREFIX = '{caretaker}:queue';
/** Short locks, so that the entries of a dead process are found soon. */
const LOCKS = { lockDuration: 15_000, stalledInterval: 5_000, maxStalledCount: 10 };
/** Many at once, since such an entry only starts the planning. */
const PLANS_AT_ONCE = 20;
const PAGE = 500;
/** The states of entries that have not ended; `active` ones may belong to a worker that died. */
const OPEN = ['waiting', 'prioritized', 'delayed', 'active'] as const;

/**
 * The queues, opened when they are first used. The connection has to retry without limit, as BullMQ requires,
 * and the caller closes it.
 */
export function openQueues(connection: ConnectionOptions, log: Log): Queues {
  const defaults = {
    prefix: PREFIX,
    defaultJobOptions: { removeOnComplete: true, removeOnFail: true },
    streams: { events: { maxLen: 1000 } },
  };
  // A lost connection is logged once, where it was opened. Here each queue and worker would log it again.
  const logError = (error: Error & { syscall?: string }) =>
    error.syscall === undefined
      ? log.warn({ err: error }, 'a queue had an error')
      : log.debug({ err: error }, 'a queue lost its connection to Redis');
  let opened: Record<Entry['kind'], Queue> | undefined;
  const open = () => {
    const { Queue } = bullmq();
    const queues = {
      plan: new Queue('plans', { connection, ...defaults }),
      act: new Queue('actions', { connection, ...defaults }),
    };
    for (const queue of Object.values(queues)) queue.on('error', logError);
    return queues;
  };
  const queues = () => {
    opened ??= open();
    return opened;
  };

  return {
    async put(entries) {
      for (const kind of ['plan', 'act'] as const) {
        const jobs = entries
          .filter((entry) => entry.kind === kind)
          .map((entry) => ({ name: entry.kind, data: entry, opts: { jobId: idOf(entry) } }));
        if (jobs.length > 0) await queues()[kind].addBulk(jobs);
      }
    },
    async drop(run) {
      for (const queue of Object.values(queues())) {
        const found: string[] = [];
        for (let at = 0; ; at += PAGE) {
          const page = await queue.getJobs([...OPEN], at, at + PAGE - 1);
          for (const job of page) if (Entry.safeParse(job?.data).data?.run === run) found.push(job.id ?? '');
          if (page.length === 0) break;
        }
        // An entry that a worker has taken cannot be removed. The worker finds the target ended, and removes it.
        await Promise.all(found.map((id) => queue.remove(id).catch(() => 0)));
      }
    },
    work(handlers, concurrency) {
      const { Worker } = bullmq();
      const take = (name: string, slots: number, handle: (entry: Entry) => Promise<void>) => {
        const process = (entry: Entry) => handle(entry).catch((error) => Promise.reject(storable(error)));
        const worker = new Worker(name, async (job) => process(Entry.parse(job.data)), {
          connection,
          prefix: PREFIX,
          concurrency: slots,
          ...LOCKS,
          removeOnComplete: { count: 0 },
          removeOnFail: { count: 0 },
        });
        worker.on('error', logError);
        worker.on('failed', (job, error) => log.error({ err: error, entry: job?.data }, 'an entry failed'));
        return worker;
      };
      const workers = [
        take('plans', PLANS_AT_ONCE, (entry) =>
          entry.kind === 'plan' ? handlers.plan(entry) : Promise.resolve(),
        ),
        take('actions', concurrency, (entry) =>
          entry.kind === 'act' ? handlers.act(entry) : Promise.resolve(),
        ),
      ];
      return {
        async stop() {
          await Promise.all(workers.map((worker) => worker.close()));
        },
      };
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
    async resume() {
      const names = await this.paused();
      for (const queue of Object.values(queues())) if (names.includes(queue.name)) await queue.resume();
      return names;
    },
    boards: () => Object.values(queues()),
    async close() {
      await Promise.all(Object.values(opened ?? {}).map((queue) => queue.close()));
    },
  };
}

/** The error without secrets: BullMQ writes its message and stack to Redis. */
function storable(error: unknown): Error {
  const clean = new Error(scrub(messageOf(error)));
  if (error instanceof Error) clean.stack = scrub(error.stack ?? '');
  return clean;
}

/** Equal entries have equal ids, so adding one again has no effect. BullMQ allows no `:` in ids. */
function idOf(entry: Entry): string {
  if (entry.kind === 'plan') return `plan.${entry.run}`;
  const target = /^[\w.-]+$/.test(entry.target)
    ? entry.target
    : `=${Buffer.from(entry.target).toString('base64url')}`;
  return `act.${entry.run}.${target}.${entry.fence}`;
}
