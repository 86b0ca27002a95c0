/**
 * BullMQ and nothing but: the one room that says `Queue`, `Worker` and `Job`, and hands out entries.
 *
 * An entry is a short piece of work that names records; what it means and whether it is still wanted is read
 * there. BullMQ delivers at least once, so whoever works on an entry claims it first. Ended entries leave
 * nothing behind: the records are the history.
 */
import { createRequire } from 'node:module';
import type { ConnectionOptions, Queue } from 'bullmq';
import { z } from 'zod';
import { messageOf } from '../errors.ts';
import type { Log } from '../log.ts';
import { scrub } from '../secrets.ts';

/** Plan a run, or act on one target of it; `step` says which handing-out of the target this is. */
const Entry = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('plan'), run: z.string() }),
  z.object({ kind: z.literal('act'), run: z.string(), target: z.string(), step: z.number() }),
]);
export type Entry = z.output<typeof Entry>;

export interface Handlers {
  plan(entry: Extract<Entry, { kind: 'plan' }>): Promise<void>;
  act(entry: Extract<Entry, { kind: 'act' }>): Promise<void>;
}

export interface Working {
  /** Takes no more entries and resolves when those under way are done. */
  stop(): Promise<void>;
}

export interface Queues {
  /** Puts entries; one that is already there is not put twice. */
  put(entries: readonly Entry[]): Promise<void>;
  /**
   * Takes away every entry of a run that no worker has at the moment. Reads through all that wait, a page at
   * a time.
   */
  drop(run: string): Promise<void>;
  /** Works on entries, at most `concurrency` actions and twenty plans at the same time. */
  work(handlers: Handlers, concurrency: number): Working;
  /** How many entries wait and are being worked on, by queue name. */
  counts(): Promise<Record<string, { waiting: number; active: number }>>;
  /** The names of the queues that somebody has paused: no entry of them is handed to any worker. */
  paused(): Promise<string[]>;
  /** Lets every queue go on that is paused; gives their names. */
  resume(): Promise<string[]>;
  /** BullMQ's own queues, for bull-board alone. */
  boards(): Queue[];
  close(): Promise<void>;
}

/**
 * BullMQ is loaded when the queues are first used, since most commands never do, and by `require`, which
 * takes half the time of its 170 modules.
 */
const require = createRequire(import.meta.url);
const bullmq = () => require('bullmq') as typeof import('bullmq');

/** The tag of the records, so that everything of Caretaker is in one slot of a Cluster. */
const PREFIX = '{caretaker}:queue';
/** Short locks, so that the entries of a process that died are found soon (DEPENDENCIES 9.2). */
const LOCKS = { lockDuration: 15_000, stalledInterval: 5_000, maxStalledCount: 10 };
/** An entry of a plan only begins it. */
const PLANS_AT_ONCE = 20;
const PAGE = 500;
/** Where entries are that have not ended; `active` ones may belong to a worker that died. */
const OPEN = ['waiting', 'prioritized', 'delayed', 'active'] as const;

/**
 * The queues over a connection that retries for ever (BullMQ demands it), opened when they are first used;
 * the connection stays the caller's to close.
 */
export function openQueues(connection: ConnectionOptions, log: Log): Queues {
  const defaults = {
    prefix: PREFIX,
    defaultJobOptions: { removeOnComplete: true, removeOnFail: true },
    streams: { events: { maxLen: 1000 } },
  };
  // That Redis is away is told once, by whoever opened the connection; here each queue and worker would tell
  // it again.
  const complain = (error: Error & { syscall?: string }) =>
    error.syscall === undefined
      ? log.warn({ err: error }, 'a queue could not work for a moment')
      : log.debug({ err: error }, 'a queue lost Redis for a moment');
  let opened: Record<Entry['kind'], Queue> | undefined;
  const open = () => {
    const { Queue } = bullmq();
    const queues = {
      plan: new Queue('plans', { connection, ...defaults }),
      act: new Queue('actions', { connection, ...defaults }),
    };
    for (const queue of Object.values(queues)) queue.on('error', complain);
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
        // One that a worker has is left to it: it finds its target ended, and leaves nothing behind.
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
        worker.on('error', complain);
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

/** An error as it may be stored: BullMQ writes its message and stack into Redis. */
function storable(error: unknown): Error {
  const clean = new Error(scrub(messageOf(error)));
  if (error instanceof Error) clean.stack = scrub(error.stack ?? '');
  return clean;
}

/** The same entry has the same id, so putting it again changes nothing. BullMQ allows no `:` in it. */
function idOf(entry: Entry): string {
  if (entry.kind === 'plan') return `plan.${entry.run}`;
  const target = /^[\w.-]+$/.test(entry.target)
    ? entry.target
    : `=${Buffer.from(entry.target).toString('base64url')}`;
  return `act.${entry.run}.${target}.${entry.step}`;
}
