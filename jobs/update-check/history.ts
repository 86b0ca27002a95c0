/**
 * Which runs of the account's auto update schedules there are to tell of, read by lists (spec 4.7, 4.8).
 *
 * A run is told of once, and none is missed: what earlier checks have told of stands in their findings, by
 * the id of the run's task, so that the reading can begin well before the last check. A run that began long
 * before it and ended since shows by its task, which has changed since.
 */
import type { Input, Item } from '../../src/contract/operations.ts';
import type { Api, JobApi } from '../../src/job/api.ts';
import { secondsOf } from '../../src/job/instant.ts';
import type { EarlierTarget } from '../../src/job/job.ts';
import { problemWith } from '../../src/job/problem.ts';
import { type HistoryEntry, isGoing, readRun, type TaskDetails, type UpdateRun } from './runs.ts';

export type UpdateSchedule = Item<'listAutoUpdateSchedules'>;

/** What there is to tell of one schedule. */
export interface ScheduleHistory {
  schedule: UpdateSchedule;
  /** It was told of up to then, in milliseconds since 1970. */
  since: number;
  /** The runs to tell of, newest first, those still going among them. */
  entries: HistoryEntry[];
  /** So many older ones besides are not told of. */
  untold: number;
  /** The last run there ever was. */
  latest?: HistoryEntry;
}

export interface AccountHistory {
  schedules: Map<string, ScheduleHistory>;
  /** Runs that went well by their status, of whose sites not all came through by the count of their task. */
  suspicious: ReadonlySet<string>;
}

/** What happens between two checks is read so much before the last one began: clocks differ. */
const OVERLAP_MS = 3_600_000;
/** So many runs of one schedule are told of in one check: two months of nights. */
const MAX_RUNS = 60;
/** Schedules asked for in one request. */
const BATCH = 50;
const PAGE = 100;

/**
 * Reads all schedules and what of their history was not told of yet, going back to `lookback` where nothing
 * was. Costs a request per 100 schedules, per 100 runs, and per 100 tasks that changed since, one for what is
 * still going, and about one per 100 runs for the schedules that have not run since.
 */
export async function readUpdateHistory(
  { api, all, earlier }: Pick<JobApi, 'api' | 'all'> & { earlier(): AsyncGenerator<EarlierTarget> },
  lookback: number,
): Promise<AccountHistory> {
  const listed: UpdateSchedule[] = [];
  for await (const schedule of all('listAutoUpdateSchedules', {})) listed.push(schedule);
  if (listed.length === 0) return { schedules: new Map(), suspicious: new Set() };
  const told = await toldBefore(earlier(), listed, lookback);
  const sinceOf = ({ id }: UpdateSchedule) => told.since.get(id) ?? lookback;
  const from = Math.min(...listed.map(sinceOf)) - OVERLAP_MS;

  const moved = await movedTasks({ all }, from);
  const began = [...moved.values()].map(({ created_at }) => Date.parse(created_at ?? '') - OVERLAP_MS);
  const oldest = Math.min(from, ...began.filter((at) => !Number.isNaN(at)));
  const entries = await entriesSince({ all }, oldest, listed);

  const schedules = new Map<string, ScheduleHistory>();
  for (const schedule of listed) {
    const since = sinceOf(schedule);
    const own = entries.get(schedule.id) ?? [];
    const isNew = (entry: HistoryEntry) => {
      if (isGoing(entry)) return true;
      const performed = Date.parse(entry.performed_on ?? '');
      // One that does not show when it ran may be new: rather told twice than never.
      if (!entry.task_id) return !(performed < since);
      if (told.tasks.has(entry.task_id)) return false;
      const changed = Date.parse(moved.get(entry.task_id)?.updated_at ?? '');
      return !((Number.isNaN(changed) ? performed : changed) < since - OVERLAP_MS);
    };
    const fresh = own.filter(isNew);
    const [latest] = own;
    schedules.set(schedule.id, {
      schedule,
      since,
      entries: fresh.slice(0, MAX_RUNS),
      untold: Math.max(0, fresh.length - MAX_RUNS),
      ...(latest ? { latest } : {}),
    });
  }
  await findLatest(api, schedules);
  return { schedules, suspicious: new Set([...moved].filter(([, task]) => isShort(task)).map(([id]) => id)) };
}

/** Since when each schedule was told of, and the tasks that were: from the findings of earlier checks. */
async function toldBefore(
  earlier: AsyncGenerator<EarlierTarget>,
  schedules: readonly UpdateSchedule[],
  lookback: number,
): Promise<{ since: Map<string, number>; tasks: Set<string> }> {
  const open = new Set(schedules.map(({ id }) => id));
  const since = new Map<string, number>();
  const tasks = new Set<string>();
  let floor = lookback - OVERLAP_MS;
  for await (const { at, id, findings } of earlier) {
    // The last check may be longer ago than one that is the first looks back.
    if (at < floor && since.size > 0) break;
    // Without findings, that check did not come to its end for the schedule.
    if (findings.length === 0) continue;
    if (!since.has(id)) since.set(id, at);
    for (const { task } of findings) if (task !== undefined) tasks.add(task);
    if (open.delete(id) && open.size === 0) {
      floor = Math.min(...schedules.map((one) => since.get(one.id) ?? lookback)) - OVERLAP_MS;
    }
  }
  return { since, tasks };
}

type Task = Item<'listTasks'>;

async function movedTasks({ all }: Pick<JobApi, 'all'>, from: number): Promise<Map<string, Task>> {
  const tasks = new Map<string, Task>();
  const filters = { type: { eq: 'wp_site_update' }, updated_at: { gte: new Date(from).toISOString() } };
  for await (const task of all('listTasks', { filters })) tasks.set(task.id, task);
  return tasks;
}

/**
 * Whether a task has ended well without having shown that all of its sites were done: its details are to say.
 */
const isShort = ({ status, progress }: Task): boolean => {
  const { done, total } = progress?.metrics?.sites ?? {};
  const isWhole = done !== undefined && total !== undefined && done >= total;
  return status === 'completed' && !isWhole;
};

/**
 * The runs since a moment and those still going, by schedule, newest first. Where an entry does not show its
 * schedule, each schedule is asked for by itself: one request more per 100 runs and schedule.
 */
async function entriesSince(
  { all }: Pick<JobApi, 'all'>,
  from: number,
  schedules: readonly UpdateSchedule[],
): Promise<Map<string, HistoryEntry[]>> {
  const found = new Map<string, HistoryEntry>();
  const queries = [
    { performed_on: { gte: new Date(from).toISOString() } },
    { status: { in: ['initializing', 'running'] } },
  ];
  for (const filters of queries) {
    const listed: HistoryEntry[] = [];
    for await (const entry of all('listAutoUpdateHistory', { filters })) listed.push(entry);
    const isWhole = listed.every(({ auto_update_schedule: schedule }) => schedule !== undefined);
    const entries = isWhole ? listed : await entriesOfEach({ all }, filters, schedules);
    for (const entry of entries) found.set(keyOf(entry), entry);
  }
  const bySchedule = new Map<string, HistoryEntry[]>();
  for (const entry of [...found.values()].sort((a, b) => startOf(b) - startOf(a))) {
    const id = entry.auto_update_schedule?.id ?? '';
    bySchedule.set(id, [...(bySchedule.get(id) ?? []), entry]);
  }
  return bySchedule;
}

/** The runs of schedules asked for one by one: whose they are follows from what was asked. */
async function entriesOfEach(
  { all }: Pick<JobApi, 'all'>,
  filters: Input<'listAutoUpdateHistory'>['filters'],
  schedules: readonly UpdateSchedule[],
): Promise<HistoryEntry[]> {
  const entries: HistoryEntry[] = [];
  for (const auto_update_schedule of schedules) {
    const own = { ...filters, auto_update_schedule_id: { eq: auto_update_schedule.id } };
    for await (const entry of all('listAutoUpdateHistory', { filters: own }))
      entries.push({ ...entry, auto_update_schedule });
  }
  return entries;
}

/** Entries have no id of their own. */
const keyOf = ({ task_id, auto_update_schedule: schedule, performed_on }: HistoryEntry): string =>
  task_id ?? `${schedule?.id} ${secondsOf(performed_on ?? '')}`;

const startOf = ({ performed_on }: HistoryEntry): number => Date.parse(performed_on ?? '') || 0;

/** Finds the last run of the schedules that have not run lately; none is left for those that never have. */
async function findLatest(api: Api, schedules: ReadonlyMap<string, ScheduleHistory>): Promise<void> {
  let open = [...schedules.values()].filter(({ latest }) => !latest).map(({ schedule }) => schedule.id);
  let size = BATCH;
  while (open.length > 0) {
    const batch = open.slice(0, size);
    const { auto_update_history: entries } = await api.listAutoUpdateHistory({
      filters: { auto_update_schedule_id: { in: batch } },
      sort: 'performed_on,desc',
      perPage: PAGE,
    });
    // Where an entry does not show its schedule, each schedule is asked for by itself.
    const [only] = batch.length === 1 ? batch : [];
    const isWhole = entries.every(({ auto_update_schedule: schedule }) => schedule !== undefined);
    if (!isWhole && only === undefined) {
      size = 1;
      continue;
    }
    for (const entry of entries) {
      const history = schedules.get(entry.auto_update_schedule?.id ?? only ?? '');
      if (history) history.latest ??= entry;
    }
    // A page that is not full has shown all there is of the whole batch.
    const isFull = entries.length === PAGE;
    const settled = new Set(batch.filter((id) => !isFull || schedules.get(id)?.latest));
    // A full page of other schedules than asked for would settle nothing: then nothing more can be learnt
    // this way.
    if (settled.size === 0) return;
    open = open.filter((id) => !settled.has(id));
  }
}

/**
 * Reads a run, with the details of its task where something went wrong or `closely` says so. Costs one
 * request then.
 */
export async function readRunOf(api: Api, entry: HistoryEntry, closely: boolean): Promise<UpdateRun> {
  if (!closely || !entry.task_id) return readRun(entry);
  return readRun(entry, (await detailsOf(api, entry.task_id)) ?? 'silent');
}

/** A task's details; none when the service has forgotten it. */
async function detailsOf(api: Api, task_id: string): Promise<TaskDetails | undefined> {
  try {
    return (await api.showTask({ task_id })).task;
  } catch (error) {
    if (problemWith(error).gone) return undefined;
    throw error;
  }
}
