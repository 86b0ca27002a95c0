/**
 * The making of a report (spec 4.9): its task, and then the report itself, which the task does not name.
 *
 * The specification shows no input of tasks that make reports, besides the sites they are for: a task found running
 * may be about other days. It is followed to its end, and the reports of the site tell what it made.
 */
import type { Intent } from '../run/run.ts';
import type { Acting, Answer, End, Reading, Reconciled } from './job.ts';
import { type Period, type PeriodWish, periodOf } from './period.ts';
import { problemWith } from './problem.ts';
import { type Mailing, type Memo, type Step, withReport } from './report-memo.ts';
import { snapshotsOf } from './report-needs.ts';
import { isAbout, withSubject } from './report-recipients.ts';
import { traces } from './traces.ts';

type Making = Acting<{ period: PeriodWish; archive_dir?: string | undefined }, Memo>;

/** Moments of the service and of ours are compared with this much slack. */
export const CLOCK_SLACK_MS = 60_000;
/** A task that is still at work after so long is not waited for. */
const RUNNING_SINCE_MS = 24 * 3_600_000;
const ended: readonly string[] = ['completed', 'cancelled', 'failed', 'aborted'];

/** A task that makes a report, and when it began, in milliseconds since 1970. */
export interface RunningTask {
  taskId: string;
  since: number;
}

/**
 * By site: the newest task that is making a report on it, whoever wants it and about whatever days. Tasks that do not tell
 * their site are left out. One request per 100 tasks of reports that began within the last day.
 */
export async function reportsBeingMade(
  { all }: Pick<Reading, 'all'>,
  now: number,
): Promise<Map<string, RunningTask>> {
  const created_at = { gte: new Date(now - RUNNING_SINCE_MS).toISOString() };
  const running = new Map<string, RunningTask>();
  const query = { filters: { type: { eq: 'report' }, created_at }, sort: 'created_at,desc' };
  for await (const { id, status, created_at: began, input } of all('listTasks', query)) {
    const since = Date.parse(began ?? '');
    // A status that we do not know is no end.
    if (ended.includes(status) || Number.isNaN(since)) continue;
    for (const site of input?.sites ?? [])
      if (site.id !== undefined && !running.has(site.id)) running.set(site.id, { taskId: id, since });
  }
  return running;
}

const unfit = (detail: string): End => ({ is: 'skipped', reason: 'not-eligible', detail });

export const periodIn = ({ options, occasion }: Making): Period =>
  periodOf(options.period, occasion.at, occasion.timezone);

function orderOf(acting: Making, { templateId }: Mailing) {
  const { start, end } = periodIn(acting);
  const { timezone } = acting.occasion;
  const site_id = acting.target.id;
  return { report: { site_id, timezone, start_date: start, end_date: end, template_id: templateId } };
}

/** Has the report made, where the site has snapshots of its days. */
export async function make(acting: Making, memo: Step<'make'>): Promise<Answer<Memo>> {
  const { api, target, occasion, now } = acting;
  const snapshots = await snapshotsOf(api, target.id, periodIn(acting), occasion.timezone);
  if ('lacks' in snapshots) return unfit(snapshots.lacks);
  try {
    const { task } = await api.createReport({ body: orderOf(acting, memo) });
    const watch = { kind: 'task', taskId: task.id, since: now } as const;
    return { is: 'following', watch, next: { ...memo, step: 'find', since: now, whose: 'ours' } };
  } catch (error) {
    const { rejected } = problemWith(error);
    if (!rejected || !/snapshot/i.test(`${rejected.code} ${rejected.message}`)) throw error;
    return unfit(`${rejected.message} ${snapshots.found}`);
  }
}

/** Waits for the end of a task that was at work on a report on the site when the run was planned. */
export function awaitTask({ taskId, since, ...memo }: Step<'await'>): Answer<Memo> {
  const watch = { kind: 'task', taskId, since, adopted: true } as const;
  return { is: 'following', watch, next: { ...memo, step: 'find', since, whose: "somebody's" } };
}

/** Finds the report that was made: its task does not name it. Has it made when the task was about other days. */
export async function find(acting: Making, memo: Step<'find'>): Promise<Answer<Memo>> {
  const { all, target, options, ended } = acting;
  const { since, whose, ...mailing } = memo;
  const isLost = ended?.is === 'failed' && ended.reason === 'unknown-effect';
  // A task that the service forgot may have made its report all the same.
  if (ended && ended.is !== 'done' && !isLost)
    return whose === "somebody's" ? { is: 'next', memo: { ...mailing, step: 'make' } } : ended;
  const period = periodIn(acting);
  const created_at = { gte: new Date(since - CLOCK_SLACK_MS).toISOString() };
  const query = { filters: { site_id: { eq: target.id }, created_at }, sort: 'created_at,desc' };
  const isOurs = whose === 'ours' ? () => true : withSubject(mailing.subjects);
  let others = 0;
  for await (const report of all('listReports', query)) {
    if (report.type !== 'scheduled' && isAbout(report, period) && isOurs(report))
      return { is: 'next', memo: withReport(mailing, report, options) };
    others += 1;
  }
  if (whose === "somebody's" && (others > 0 || isLost))
    return { is: 'next', memo: { ...mailing, step: 'make' } };
  if (isLost) return ended;
  if (whose === 'perhaps ours' && others > 0) {
    const detail =
      'The answer to createReport was lost, and the task found instead made another report on the site: the next run makes this one, unless it is there by then.';
    return { is: 'failed', reason: 'unknown-effect', detail };
  }
  const detail = 'The service says that the report is made, and does not list it.';
  return { is: 'waiting', reason: 'unavailable', detail };
}

/** What became of a report that was asked for, when the answer was lost. */
export async function adoptReport(
  acting: Making,
  memo: Step<'make'>,
  intent: Intent,
): Promise<Reconciled<Memo>> {
  const found = await traces.createReport.find(acting, { body: orderOf(acting, memo) }, intent);
  if (found.is !== 'found') return found;
  const next = { ...memo, step: 'find', since: intent.at } as const;
  if (found.taskId === undefined) return { is: 'next', memo: { ...next, whose: 'ours' } };
  const watch = { kind: 'task', taskId: found.taskId, since: intent.at } as const;
  return { is: 'following', watch, next: { ...next, whose: 'perhaps ours' } };
}
