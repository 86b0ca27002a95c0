/** What people who operate queues want to know of one: read from BullMQ when somebody looks, and from nothing else. */
import type { Job, Queue } from 'bullmq';
import { Entry } from './entry.ts';

/** Workers have BullMQ count the ends of entries by the minute, for so long. */
export const METRIC_MINUTES = 180;
const MINUTE_MS = 60_000;
/** How many ended entries tell how long entries wait and take, and how many active and failed ones are listed. */
const RECENT = 100;
const MAX_ACTIVE = 500;
export const MAX_FAILED = 20;

/** An entry in a list. */
export interface SeenEntry {
  id: string;
  name: string;
  /** What it is about, if that is a run, and the only target, if it is one. */
  run?: string;
  target?: string;
}

export interface QueueLook {
  queue: string;
  paused: boolean;
  waiting: number;
  delayed: number;
  active: number;
  /** Since when the entry waits that comes next. */
  oldestAt?: number;
  /** How many ended in each of the last minutes, oldest first. The last one is not over. */
  minutes: { at: number; completed: number; failed: number }[];
  /** Of the last entries that were completed: how long they waited for a worker, and how long it took, ascending. */
  waitedMs: number[];
  tookMs: number[];
  /** Entries that a worker has: since when, and the id of its process. */
  held: (SeenEntry & { since: number; by?: string })[];
  /** The entries that failed last. */
  failures: (SeenEntry & { at: number; why: string })[];
}

export async function lookAt(queue: Queue, now: number): Promise<QueueLook> {
  const [counts, paused, [oldest], completed, failed, active, recent, failures] = await Promise.all([
    queue.getJobCounts(),
    queue.isPaused(),
    queue.getJobs(['waiting', 'prioritized'], 0, 0, true),
    queue.getMetrics('completed'),
    queue.getMetrics('failed'),
    queue.getJobs(['active'], 0, MAX_ACTIVE - 1),
    queue.getJobs(['completed'], 0, RECENT - 1),
    queue.getJobs(['failed'], 0, MAX_FAILED - 1),
  ]);
  const { waiting = 0, prioritized = 0, delayed = 0, active: working = 0 } = counts;
  const ended = [countedBy(completed), countedBy(failed)] as const;
  const first = Math.floor(now / MINUTE_MS) - METRIC_MINUTES + 1;
  // An entry that ended meanwhile is undefined.
  const known = (jobs: readonly (Job | undefined)[]) => jobs.filter((job) => job !== undefined);
  return {
    queue: queue.name,
    paused,
    waiting: waiting + prioritized,
    delayed,
    active: working,
    ...(oldest ? { oldestAt: oldest.timestamp } : {}),
    minutes: Array.from({ length: METRIC_MINUTES }, (_, index) => ({
      at: (first + index) * MINUTE_MS,
      completed: ended[0].get(first + index) ?? 0,
      failed: ended[1].get(first + index) ?? 0,
    })),
    waitedMs: ascending(known(recent).map((job) => (job.processedOn ?? 0) - job.timestamp - job.delay)),
    tookMs: ascending(known(recent).map((job) => (job.finishedOn ?? 0) - (job.processedOn ?? 0))),
    held: known(active).map((job) => ({
      ...seen(job),
      since: job.processedOn ?? job.timestamp,
      ...(job.processedBy === undefined ? {} : { by: job.processedBy }),
    })),
    failures: known(failures).map((job) => ({
      ...seen(job),
      at: job.finishedOn ?? job.timestamp,
      why: job.failedReason ?? '',
    })),
  };
}

/**
 * The counts of BullMQ by the minute since 1970. It has the counts up to the minute of the last end, newest first; what
 * ended in that minute is the difference of two sums.
 */
function countedBy({
  meta,
  data,
}: {
  meta: Metrics['meta'];
  data: readonly (number | string)[];
}): Map<number, number> {
  const last = Math.floor(meta.prevTS / MINUTE_MS);
  const counts = new Map(data.map((count, index) => [last - 1 - index, Number(count)]));
  return counts.set(last, Math.max(0, meta.count - meta.prevCount));
}
type Metrics = Awaited<ReturnType<Queue['getMetrics']>>;

const ascending = (values: readonly number[]): number[] =>
  values.map((value) => Math.max(0, value)).sort((a, b) => a - b);

function seen(job: Job): SeenEntry {
  const { data: entry } = Entry.safeParse(job.data);
  const about = entry && 'run' in entry ? { run: entry.run } : {};
  const [only, ...others] = entry?.kind === 'act' ? entry.targets : [];
  return {
    id: job.id ?? '',
    name: job.name,
    ...about,
    ...(only && others.length === 0 ? { target: only.id } : {}),
  };
}
