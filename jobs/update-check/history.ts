/**
 * The runs of the account's auto update schedules that a check has to report, read from lists (spec 4.7, 4.8).
 *
 * Every run is reported exactly once. The findings of earlier checks contain the ids of the tasks that were
 * reported, so the history can be read from well before the last check. A run that started long before the
 * last check and ended after it is found by its task, which has changed since.
 */
import type { Input, Item } from '../../src/contract/operations.ts';
import type { Api, JobApi } from '../../src/job/api.ts';
import type { EarlierTarget } from '../../src/job/job.ts';
import { problemWith } from '../../src/job/problem.ts';
import { secondsOf } from '../../src/job/shown.ts';
import { type HistoryEntry, isInProgress, readRun, type TaskDetails, type UpdateRun } from './runs.ts';

export type UpdateSchedule = Item<'listAutoUpdateSchedules'>;

/** The runs of one schedule that have to be reported. */
export interface ScheduleHistory {
  schedule: UpdateSchedule;
  /** Everything up to this time was reported, in milliseconds since 1970. */
  since: number;
  /** The runs to report, newest first, including those in progress. */
  entries: HistoryEntry[];
  /** How many older runs are not reported, because there are too many. */
  unreported: number;
  /** The last run of the schedule, reported or not. */
  latest?: HistoryEntry;
}

export interface AccountHistory {
  schedules: Map<string, ScheduleHistory>;
  /** Tasks that completed, but whose progress does not show that all their sites are done. */
  suspicious: ReadonlySet<string>;
}

/** The history is read from this long before the last check, because clocks differ. */
const OVERLAP_MS = 3_600_000;
/** The most runs of one schedule that a check reports: two months of daily runs. */
const MAX_RUNS = 60;
/** Schedules per request. */
const BATCH = 50;
const PAGE = 100;

/**
 * Reads all schedules and the runs that were not reported yet. For a schedule that was never reported, it goes
 * back to `lookback`. Costs one request per 100 schedules, per 100 runs and per 100 tasks that changed since,
 * one for the runs in progress, and about one per 100 runs for schedules that have not run since.
 */
export async function readUpdateHistory(
  { api, all, earlier }: Pick<JobApi, 'api' | 'all'> & { earlier(): AsyncGenerator<EarlierTarget> },
  lookback: number,
): Promise<AccountHistory> {
  const listed: UpdateSchedule[] = [];
  for await (const schedule of all('listAutoUpdateSchedules', {})) listed.push(schedule);
  if (listed.length === 0) return { schedules: new Map(), suspicious: new Set() };
  const reported = await readReported(earlier(), listed, lookback);
  const sinceOf = ({ id }: UpdateSchedule) => reported.since.get(id) ?? lookback;
  const from = Math.min(...listed.map(sinceOf)) - OVERLAP_MS;

  const changedTasks = await tasksChangedSince({ all }, from);
  const starts = [...changedTasks.values()].map(
    ({ created_at }) => Date.parse(created_at ?? '') - OVERLAP_MS,
  );
  const oldest = Math.min(from, ...starts.filter((at) => !Number.isNaN(at)));
  const entries = await entriesSince({ all }, oldest, listed);

  const schedules = new Map<string, ScheduleHistory>();
  for (const schedule of listed) {
    const since = sinceOf(schedule);
    const own = entries.get(schedule.id) ?? [];
    const isNew = (entry: HistoryEntry) => {
      if (isInProgress(entry)) return true;
      const performed = Date.parse(entry.performed_on ?? '');
      // A run whose time is not shown may be new. It is better to report it twice than never.
      if (!entry.task_id) return !(performed < since);
      if (reported.tasks.has(entry.task_id)) return false;
      const changed = Date.parse(changedTasks.get(entry.task_id)?.updated_at ?? '');
      return !((Number.isNaN(changed) ? performed : changed) < since - OVERLAP_MS);
    };
    const fresh = own.filter(isNew);
    const [latest] = own;
    schedules.set(schedule.id, {
      schedule,
      since,
      entries: fresh.slice(0, MAX_RUNS),
      unreported: Math.max(0, fresh.length - MAX_RUNS),
      ...(latest ? { latest } : {}),
    });
  }
  await findLatest(api, schedules);
  const suspicious = [...changedTasks].filter(([, task]) => isSuspicious(task)).map(([id]) => id);
  return { schedules, suspicious: new Set(suspicious) };
}

/** The time of the last check of each schedule, and the tasks that were reported: from earlier findings. */
async function readReported(
  earlier: AsyncGenerator<EarlierTarget>,
  schedules: readonly UpdateSchedule[],
  lookback: number,
): Promise<{ since: Map<string, number>; tasks: Set<string> }> {
  const open = new Set(schedules.map(({ id }) => id));
  const since = new Map<string, number>();
  const tasks = new Set<string>();
  let floor = lookback - OVERLAP_MS;
  for await (const { at, id, findings } of earlier) {
    // Without any check so far, keep reading: the last check may be older than `lookback`.
    if (at < floor && since.size > 0) break;
    // A schedule without findings was not checked to the end.
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

async function tasksChangedSince({ all }: Pick<JobApi, 'all'>, from: number): Promise<Map<string, Task>> {
  const tasks = new Map<string, Task>();
  const filters = { type: { eq: 'wp_site_update' }, updated_at: { gte: new Date(from).toISOString() } };
  for await (const task of all('listTasks', { filters })) tasks.set(task.id, task);
  return tasks;
}

/** Whether a task completed without showing that all of its sites are done. Then its details are read. */
const isSuspicious = ({ status, progress }: Task): boolean => {
  const { done, total } = progress?.metrics?.sites ?? {};
  const isWhole = done !== undefined && total !== undefined && done >= total;
  return status === 'completed' && !isWhole;
};

/**
 * The runs since a time and those in progress, by schedule, newest first. If an entry does not show its
 * schedule, the runs of each schedule are listed separately, which costs at least one request per schedule.
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

/** The runs of each schedule, listed separately, so that the schedule of every run is known. */
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

/** A key for an entry, because entries have no id. */
const keyOf = ({ task_id, auto_update_schedule: schedule, performed_on }: HistoryEntry): string =>
  task_id ?? `${schedule?.id} ${secondsOf(performed_on ?? '')}`;

const startOf = ({ performed_on }: HistoryEntry): number => Date.parse(performed_on ?? '') || 0;

/** Finds the last run of schedules that have not run recently. A schedule that never ran gets none. */
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
    // If an entry does not show its schedule, the runs of each schedule are listed separately.
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
    // A page that is not full contains all runs of the batch.
    const isFull = entries.length === PAGE;
    const done = new Set(batch.filter((id) => !isFull || schedules.get(id)?.latest));
    // A full page that contains none of these schedules would be the same again: stop, to avoid an endless loop.
    if (done.size === 0) return;
    open = open.filter((id) => !done.has(id));
  }
}

/** Reads a run; with `withDetails`, also the details of its task, which costs one request. */
export async function readRunOf(api: Api, entry: HistoryEntry, withDetails: boolean): Promise<UpdateRun> {
  if (!withDetails || !entry.task_id) return readRun(entry);
  return readRun(entry, (await detailsOf(api, entry.task_id)) ?? 'not-found');
}

/** A task's details; `undefined` when the service no longer has the task. */
async function detailsOf(api: Api, task_id: string): Promise<TaskDetails | undefined> {
  try {
    return (await api.showTask({ task_id })).task;
  } catch (error) {
    if (problemWith(error).gone) return undefined;
    throw error;
  }
}
