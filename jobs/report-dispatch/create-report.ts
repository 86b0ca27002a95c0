/**
 * The making of a report (spec 4.9): its task, and then the report itself, which the task does not name.
 *
 * The specification shows no input of tasks that make reports, besides the sites they are for: a task found
 * running may be about other days. It is followed to its end, and the reports of the site tell what it made.
 */
import type { Item } from '../../src/contract/operations.ts';
import type { Answer, End, Reconciled } from '../../src/job/answer.ts';
import type { JobApi } from '../../src/job/api.ts';
import type { Acting, Holder, Intent } from '../../src/job/job.ts';
import { problemWith } from '../../src/job/problem.ts';
import { orderIn } from '../../src/job/reconcile/own-effect.ts';
import {
  askedFor,
  type DedupeOptions,
  isOfScope,
  makingKey,
  othersWork,
  reportKey,
  scopeKey,
  shownAlone,
  waitFor,
} from './claims.ts';
import { type Period, type PeriodWish, periodOf } from './period.ts';
import { snapshotsOf } from './prerequisites.ts';
import { completeReport, isAbout, madeSince, mailsSoFar, showsWhatAbout, withSubject } from './recipients.ts';
import { type Mailing, type State, type Step, withReport } from './state.ts';
import { mailTo } from './watch-mail.ts';

type Making = Acting<{ period: PeriodWish; archive_dir?: string | undefined } & DedupeOptions, State>;
type Report = Item<'listReports'>;
type Task = Item<'listTasks'>;

/** A task that is still at work after so long is not waited for. */
const RUNNING_SINCE_MS = 24 * 3_600_000;
/** So long after a lost request a list may still be without the report that a task has made since. */
const LISTED_WITHIN_MS = 3 * 60_000;
const LOOK_AGAIN_MS = 10_000;
const ended: readonly string[] = ['completed', 'cancelled', 'failed', 'aborted'];

/**
 * By site: the newest task that is making a report on it, whoever wants it and about whatever days. Tasks
 * that do not tell their site are left out. One request per 100 tasks of reports that began within the last
 * day.
 */
export async function reportsBeingMade(reading: JobApi, now: number): Promise<Map<string, string>> {
  const running = new Map<string, string>();
  for await (const task of reportTasksSince(reading, now - RUNNING_SINCE_MS)) {
    // A status that we do not know is no end.
    if (ended.includes(task.status)) continue;
    for (const siteId of sitesOf(task)) if (!running.has(siteId)) running.set(siteId, task.id);
  }
  return running;
}

/** The tasks of reports that may have begun since a time of ours, newest first. */
async function* reportTasksSince(
  { all, serviceTime }: Pick<JobApi, 'all' | 'serviceTime'>,
  at: number,
): AsyncGenerator<Task> {
  const since = await serviceTime(at);
  // Services that keep whole seconds cut the rest off.
  const created_at = { gte: new Date(since.earliest - 1_000).toISOString() };
  const query = { filters: { type: { eq: 'report' }, created_at }, sort: 'created_at,desc' };
  for await (const task of all('listTasks', query))
    if (orderIn(task.created_at, since) !== 'before') yield task;
}

const sitesOf = ({ input }: Task): string[] =>
  (input?.sites ?? []).flatMap(({ id }) => (id === undefined ? [] : [id]));

const unfit = (detail: string): End => ({ is: 'skipped', reason: 'not-eligible', detail });

export const periodIn = ({ options, runContext }: Pick<Making, 'options' | 'runContext'>): Period =>
  periodOf(options.period, runContext.at, runContext.timezone);

const keyIn = (acting: Making, { scope }: Mailing): string =>
  reportKey(acting.target.id, periodIn(acting), scope);

/** Has the report made, where the site has snapshots of its days, and nobody has made it or is making it. */
export async function make(acting: Making, state: Step<'make'>): Promise<Answer<State>> {
  const { api, target, runContext, now } = acting;
  const before = await madeBefore(acting, state);
  if (before) return before;
  const period = periodIn(acting);
  const snapshots = await snapshotsOf(api, target.id, period, runContext.timezone);
  if ('lacks' in snapshots) return unfit(snapshots.lacks);
  const others = await takeTurn(acting, state);
  if (others) return others;
  try {
    const days = { start_date: period.start, end_date: period.end };
    const order = {
      site_id: target.id,
      timezone: runContext.timezone,
      ...days,
      template_id: state.templateId,
    };
    const { task } = await api.createReport({ body: { report: order } });
    return followed(state, task.id, now, 'ours');
  } catch (error) {
    const { rejected } = problemWith(error);
    if (!rejected || !/snapshot/i.test(`${rejected.code} ${rejected.message}`)) throw error;
    return unfit(`${rejected.message} ${snapshots.found}`);
  }
}

function followed(
  { step: _, ...mailing }: Mailing & { step: string },
  taskId: string,
  since: number,
  whose: Step<'find'>['whose'],
): Extract<Answer<State>, { is: 'following' }> {
  const adopted = whose === "somebody's" ? ({ adopted: true } as const) : {};
  const watch = { kind: 'task', taskId, since, ...adopted } as const;
  return { is: 'following', watch, next: { ...mailing, step: 'find', since, whose } };
}

/**
 * Goes on with the report that another target has made, or waits for it; nothing when this target is the one
 * to make it.
 */
async function madeBefore(acting: Making, state: Step<'make'>): Promise<Answer<State> | undefined> {
  const { once, now } = acting;
  const key = keyIn(acting, state);
  const holder = await once.claim(key);
  if (holder.result !== undefined) {
    const report = await shownAlone(acting, holder.result);
    if (report) return goOnWith(acting, state, report);
    // It was deleted since.
  } else if (!holder.isOurs) {
    if (holder.endedAt === undefined)
      return othersWork('making the same report', holder, waitFor(holder, now) ?? now);
    const found = await leftBy(acting, state, holder);
    if (found) return found;
    const until = waitFor(holder, now);
    if (until !== undefined) return othersWork('making the same report', holder, until);
  }
  if (holder.isOurs && holder.result === undefined) return undefined;
  const taken = await once.claim(key, holder);
  return taken.isOurs ? undefined : othersWork('making the same report', taken, waitFor(taken, now) ?? now);
}

/**
 * Makes it this target's turn to have a report on the days made, where no other target has one made; else
 * what to do until then.
 */
async function takeTurn(acting: Making, { scope }: Mailing): Promise<Answer<State> | undefined> {
  const { once, now, target } = acting;
  const key = makingKey(target.id, periodIn(acting));
  let turn = await once.claim(key);
  if (!turn.isOurs && !isMade(turn)) {
    const until = waitFor(turn, now);
    if (until !== undefined) return othersWork('making a report on the same days', turn, until);
  }
  if (!turn.isOurs || isMade(turn)) turn = await once.claim(key, turn);
  if (!turn.isOurs) return othersWork('making a report on the same days', turn, waitFor(turn, now) ?? now);
  await once.note(key, askedFor(scope));
  return undefined;
}

const isMade = ({ result }: Holder): boolean => result?.startsWith('made ') ?? false;

/**
 * What is there, or still under way, of a report that a target was to make which ended without having found
 * it.
 */
async function leftBy(
  acting: Making,
  state: Step<'make'>,
  { at }: Holder,
): Promise<Answer<State> | undefined> {
  const { found, until } = await reportIn(acting, state, { whose: "somebody's", since: at });
  if (found) return goOnWith(acting, state, found);
  if (until) return until;
  const tasks: Task[] = [];
  for await (const task of reportTasksSince(acting, at)) if (!ended.includes(task.status)) tasks.push(task);
  const ours = tasks.find((task) => sitesOf(task).includes(acting.target.id));
  if (ours) return followed(state, ours.id, acting.now, "somebody's");
  return tasks.some((task) => sitesOf(task).length === 0) ? silentTask(acting) : undefined;
}

const silentTask = ({ now }: Making): Answer<State> & { is: 'waiting' } => ({
  is: 'waiting',
  reason: 'conflict',
  detail: 'A task that makes a report is under way, and the service does not show for which site.',
  until: now + LOOK_AGAIN_MS,
});

/** Waits for the end of a task that was at work on a report on the site when the run was planned. */
export const awaitTask = ({ now }: Making, { taskId, ...state }: Step<'await'>): Answer<State> =>
  followed(state, taskId, now, "somebody's");

/**
 * Finds the report that was made: its task does not name it. Has it made when the task was about other days.
 */
export async function find(acting: Making, state: Step<'find'>): Promise<Answer<State>> {
  const { ended: end } = acting;
  const { since, whose, ...mailing } = state;
  const isLost = end?.is === 'failed' && end.reason === 'unknown-effect';
  // A task that the service forgot may have made its report all the same.
  if (end && end.is !== 'done' && !isLost)
    return whose === "somebody's" ? { is: 'next', state: { ...mailing, step: 'make' } } : end;
  const { found, until } = await reportIn(acting, mailing, { whose, since });
  if (found) return goOnWith(acting, mailing, found, whose === "somebody's" ? undefined : since);
  if (until) return until;
  const others = await isAnyNew(acting, since);
  // Without an end, planning saw a report, which is gone by now.
  if (whose === "somebody's" && (others || isLost || !end))
    return { is: 'next', state: { ...mailing, step: 'make' } };
  if (isLost) return end;
  if (whose === 'perhaps ours' && others) {
    const detail =
      'The answer to createReport was lost, and the task found instead made another report on the site: the next run makes this one, unless it is there by then.';
    return { is: 'failed', reason: 'unknown-effect', detail };
  }
  const detail = 'The service says that the report is made, and does not list it.';
  return { is: 'waiting', reason: 'unavailable', detail };
}

/** The reports on the target's site, newest first: all that can be about its days. */
async function* reportsOf({ all, target, ...acting }: Making): AsyncGenerator<Report> {
  const created_at = madeSince(periodIn(acting), acting.runContext.timezone);
  const query = { filters: { site_id: { eq: target.id }, created_at }, sort: 'created_at,desc' };
  yield* all('listReports', query);
}

/** Whether a report on the site was made since a time of ours, about whatever days. */
async function isAnyNew(acting: Making, at: number): Promise<boolean> {
  const since = await acting.serviceTime(at);
  for await (const { created_at } of reportsOf(acting))
    if (orderIn(created_at, since) !== 'before') return true;
  return false;
}

/**
 * The report of the mailing's scope on the target's site and days: the one that our records have, or else the
 * newest that they do not have. Where reports are told apart by their subject, which one that was just made
 * need not have yet, one that was made since `since`, by a task that is ours or may be. `until`: what to do
 * instead where another target is having a report on the days made: it may be that one.
 */
async function reportIn(
  acting: Making,
  { scope, subjects }: Pick<Mailing, 'scope' | 'subjects'>,
  { whose, since }: Pick<Step<'find'>, 'whose' | 'since'>,
): Promise<{ found?: Report; until?: Extract<Answer<never>, { is: 'waiting' }> }> {
  const { once, target, now } = acting;
  const period = periodIn(acting);
  const about: Report[] = [];
  for await (const entry of reportsOf(acting)) {
    if (entry.type === 'scheduled') continue;
    const report = showsWhatAbout(entry) ? entry : await completeReport(acting.api, entry);
    if (report && report.type !== 'scheduled' && isAbout(report, period)) about.push(report);
  }
  const recorded = await acting.once.results(about.map(({ id }) => scopeKey(id)));
  const own = about.find((_, at) => recorded[at] === scope);
  if (own) return { found: own };
  const made = await acting.serviceTime(since);
  const turn = await once.holder(makingKey(target.id, period));
  const isOthers = turn && !turn.isOurs && !isMade(turn) && turn.result !== askedFor(scope);
  const othersSince = isOthers ? await acting.serviceTime(turn.at) : undefined;
  const looksOurs = (report: Report) => {
    if (othersSince && orderIn(report.created_at, othersSince) !== 'before') return false;
    const isNew = whose !== "somebody's" && orderIn(report.created_at, made) !== 'before';
    return isNew || withSubject(subjects)(report);
  };
  const found = about.find((report, at) => isOfScope(report, scope, recorded[at], looksOurs));
  if (found) return { found };
  if (!isOthers || turn.endedAt !== undefined) return {};
  return { until: othersWork('making a report on the same days', turn, waitFor(turn, now) ?? now) };
}

/**
 * Goes on with a report that is there: it is sent to those who have not had it. Records whose it is.
 * `askedAt`: when this target asked for it, where the report may be what came of that.
 */
async function goOnWith(
  acting: Making,
  { step: _, ...mailing }: Mailing & { step?: string },
  report: Report,
  askedAt?: number,
): Promise<Answer<State>> {
  const { once, options } = acting;
  const key = keyIn(acting, mailing);
  const [isRecorded] = await once.results([scopeKey(report.id)]);
  const holder = await once.claim(key);
  if (holder.isOurs) {
    await once.note(key, report.id);
    await once.claim(scopeKey(report.id));
    await once.note(scopeKey(report.id), mailing.scope);
    await once.note(makingKey(acting.target.id, periodIn(acting)), `made ${report.id}`);
  }
  const order =
    askedAt === undefined ? 'before' : orderIn(report.created_at, await acting.serviceTime(askedAt));
  const shown = report.email?.recipients ? report : ((await completeReport(acting.api, report)) ?? report);
  const { open, missed, untold, end } = mailsSoFar(mailing.to, [shown]);
  const onceMore = missed.filter((email) => mailTo(mailing.before ?? [], email));
  const to = [...open, ...untold, ...onceMore];
  if (to.length === 0) return end;
  const isForeign = isRecorded === undefined && askedAt === undefined && holder.isOurs;
  const facts = {
    ...mailing,
    to,
    // Where nothing is shown: nobody sends what was made a moment ago for us.
    ...(untold.length > 0 && order === 'before' ? { untold } : {}),
    ...(isForeign ? { adopted: true as const } : {}),
  };
  return { is: 'next', state: withReport(facts, shown, options) };
}

/** What became of a report that was asked for, when the answer was lost. */
export async function adoptReport(
  acting: Making,
  state: Step<'make'>,
  intent: Intent,
): Promise<Reconciled<State>> {
  const { effects, target, now } = acting;
  const { found, until } = await reportIn(acting, state, { whose: 'perhaps ours', since: intent.at });
  if (found) return goOnWith(acting, state, found, intent.at);
  if (until) return until;
  const tasks: Task[] = [];
  for await (const task of reportTasksSince(acting, intent.at)) {
    const names = sitesOf(task);
    const mayBeOurs = names.length === 0 || names.includes(target.id);
    if (mayBeOurs && !(await effects.belongsToOther('createReport', task.id))) tasks.push(task);
  }
  const running = tasks.filter(({ status }) => !ended.includes(status));
  for (const task of running)
    if (sitesOf(task).includes(target.id) && (await effects.claim('createReport', task.id)))
      return followed(state, task.id, intent.at, 'perhaps ours');
  if (running.length > 0) return silentTask(acting);
  const made = tasks.some(({ status }) => status === 'completed');
  if (!made || now >= intent.at + LISTED_WITHIN_MS) return { is: 'absent' };
  const detail = 'A task has made a report since, and the service does not list it yet.';
  return { is: 'waiting', reason: 'unavailable', detail, until: now + LOOK_AGAIN_MS };
}
