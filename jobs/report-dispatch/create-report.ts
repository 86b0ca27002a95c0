/**
 * Requests a report (spec 4.9), follows its task, and then finds the report, which the task does not name.
 *
 * For a task that makes a report, the specification shows only the site. So a running task may be about other
 * days. It is followed to its end, and then the reports of the site show what it made.
 */
import { timeOf } from '../../src/clock.ts';
import { hasEnded } from '../../src/contract/operations/shared.ts';
import type { Item } from '../../src/contract/operations.ts';
import type { Answer, End, Reconciled } from '../../src/job/answer.ts';
import type { JobApi } from '../../src/job/api.ts';
import type { Acting, Holder, Intent } from '../../src/job/job.ts';
import { problemWith } from '../../src/job/problem.ts';
import { orderIn } from '../../src/job/reconcile/own-effect.ts';
import {
  claimRecipients,
  type DedupeOptions,
  isOfScope,
  makingKey,
  reportKey,
  requestedFor,
  scopeKey,
  showReport,
  waitForHolder,
  waitUntil,
} from './claims.ts';
import { type PeriodOption, periodIn } from './period.ts';
import { snapshotsOf } from './prerequisites.ts';
import {
  completeReport,
  createdSince,
  isAbout,
  mailsSoFar,
  showsWhatAbout,
  withSubject,
} from './recipients.ts';
import { type Mailing, type State, type Step, withReport } from './state.ts';
import { mailTo } from './watch-mail.ts';

type Making = Acting<{ period: PeriodOption; archive_dir?: string | undefined } & DedupeOptions, State>;
type Report = Item<'listReports'>;
type Task = Item<'listTasks'>;

/** A task that was started longer ago than this is not waited for. */
const RUNNING_SINCE_MS = 24 * 3_600_000;
/** For this long after a lost request, a list may not show yet the report that its task has made. */
const LISTED_WITHIN_MS = 3 * 60_000;
const LOOK_AGAIN_MS = 10_000;

/** A task that makes a report. `startedAt`: on our clock, and not later than it was. */
export interface MakingTask {
  taskId: string;
  startedAt: number;
}

/**
 * By site: the newest task that is making a report on it, for whichever requester and days. Tasks that do not
 * show their site are ignored. Costs one request per 100 report tasks started within the last day.
 */
export async function reportsBeingMade(reading: JobApi, now: number): Promise<Map<string, MakingTask>> {
  const running = new Map<string, MakingTask>();
  const oldest = now - RUNNING_SINCE_MS;
  const { latest } = await reading.serviceTime(oldest);
  for await (const task of reportTasksSince(reading, oldest)) {
    // A task with an unknown status counts as running.
    if (hasEnded(task.status)) continue;
    const startedAt = oldest + Math.max(0, (timeOf(task.created_at)?.earliest ?? latest) - latest);
    for (const siteId of sitesOf(task))
      if (!running.has(siteId)) running.set(siteId, { taskId: task.id, startedAt });
  }
  return running;
}

/** The report tasks that may have started since `at`, which is a time of our clock. Newest first. */
async function* reportTasksSince(
  { all, serviceTime }: Pick<JobApi, 'all' | 'serviceTime'>,
  at: number,
): AsyncGenerator<Task> {
  const since = await serviceTime(at);
  // A service that stores whole seconds rounds them down.
  const created_at = { gte: new Date(since.earliest - 1_000).toISOString() };
  const query = { filters: { type: { eq: 'report' }, created_at }, sort: 'created_at,desc' };
  for await (const task of all('listTasks', query))
    if (orderIn(task.created_at, since) !== 'before') yield task;
}

const sitesOf = ({ input }: Task): string[] =>
  (input?.sites ?? []).flatMap(({ id }) => (id === undefined ? [] : [id]));

const ineligible = (detail: string): End => ({ is: 'skipped', reason: 'not-eligible', detail });

const keyIn = (acting: Making, { scope }: Mailing): string =>
  reportKey(acting.target.id, periodIn(acting), scope);

/** Requests the report, if the site has snapshots of its days and no other target has made or requested it. */
export async function requestReport(acting: Making, state: Step<'make'>): Promise<Answer<State>> {
  const { api, target, runContext, now } = acting;
  const before = await continueOthersWork(acting, state);
  if (before) return before;
  const period = periodIn(acting);
  const snapshots = await snapshotsOf(api, target.id, period, runContext.timezone);
  if ('missing' in snapshots) return ineligible(snapshots.missing);
  const others = (await claimRecipients(acting, state)) ?? (await claimTurn(acting, state));
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
    return followTask(state, task.id, { taskOwner: 'own', since: now });
  } catch (error) {
    const { rejected } = problemWith(error);
    if (!rejected || !/snapshot/i.test(`${rejected.code} ${rejected.message}`)) throw error;
    return ineligible(`${rejected.message} ${snapshots.found}`);
  }
}

/** `since`: the report that the task makes is not older. `now`: from when the task is followed. */
function followTask(
  { step: _, ...mailing }: Mailing & { step: string },
  taskId: string,
  { taskOwner, since, now = since }: Pick<Step<'find'>, 'taskOwner' | 'since'> & { now?: number },
): Extract<Answer<State>, { is: 'following' }> {
  const adopted = taskOwner === 'other' ? ({ adopted: true } as const) : {};
  const watch = { kind: 'task', taskId, since: now, ...adopted } as const;
  return { is: 'following', watch, next: { ...mailing, step: 'find', since, taskOwner } };
}

/** Continues with a report that another target made, or waits for it. `undefined`: this target has to make it. */
async function continueOthersWork(acting: Making, state: Step<'make'>): Promise<Answer<State> | undefined> {
  const { once, now } = acting;
  const key = keyIn(acting, state);
  const holder = await once.claim(key);
  if (holder.result !== undefined) {
    const report = await showReport(acting, holder.result);
    if (report) return continueWith(acting, state, report);
    // It was deleted since.
  } else if (!holder.isOurs) {
    if (holder.endedAt === undefined)
      return waitForHolder('making the same report', holder, waitUntil(holder, now) ?? now);
    const found = await findUnfinishedWork(acting, state, holder);
    if (found) return found;
    const until = waitUntil(holder, now);
    if (until !== undefined) return waitForHolder('making the same report', holder, until);
  }
  if (holder.isOurs && holder.result === undefined) return undefined;
  const taken = await once.claim(key, holder);
  return taken.isOurs
    ? undefined
    : waitForHolder('making the same report', taken, waitUntil(taken, now) ?? now);
}

/**
 * Claims the right to request a report on the site and days. Only one target has it at a time, because nothing
 * shows which task made which report. Gives the answer to wait with when another target has it.
 */
async function claimTurn(acting: Making, { scope }: Mailing): Promise<Answer<State> | undefined> {
  const { once, now, target } = acting;
  const key = makingKey(target.id, periodIn(acting));
  let turn = await once.claim(key);
  if (!turn.isOurs && !isMade(turn)) {
    const until = waitUntil(turn, now);
    if (until !== undefined) return waitForHolder('making a report on the same days', turn, until);
  }
  if (!turn.isOurs || isMade(turn)) turn = await once.claim(key, turn);
  if (!turn.isOurs)
    return waitForHolder('making a report on the same days', turn, waitUntil(turn, now) ?? now);
  await once.note(key, requestedFor(scope));
  return undefined;
}

const isMade = ({ result }: Holder): boolean => result?.startsWith('made ') ?? false;

/** Looks for the report, or its task, of another target that requested it and ended without finding it. */
async function findUnfinishedWork(
  acting: Making,
  state: Step<'make'>,
  { at }: Holder,
): Promise<Answer<State> | undefined> {
  const { found, until } = await reportIn(acting, state, { taskOwner: 'other', since: at });
  if (found) return continueWith(acting, state, found);
  if (until) return until;
  const tasks: Task[] = [];
  for await (const task of reportTasksSince(acting, at)) if (!hasEnded(task.status)) tasks.push(task);
  const ours = tasks.find((task) => sitesOf(task).includes(acting.target.id));
  if (ours) return followTask(state, ours.id, { taskOwner: 'other', since: at, now: acting.now });
  return tasks.some((task) => sitesOf(task).length === 0) ? waitForUnknownTask(acting) : undefined;
}

const waitForUnknownTask = ({ now }: Making): Answer<State> & { is: 'waiting' } => ({
  is: 'waiting',
  reason: 'conflict',
  detail: 'A task that makes a report is running, and the service does not show for which site.',
  until: now + LOOK_AGAIN_MS,
});

/**
 * Waits for a task that was making a report on the site when the run was planned. It can have ended since, so its
 * report is one from its start on.
 */
export const awaitTask = ({ now }: Making, { task, ...state }: Step<'await'>): Answer<State> =>
  followTask(state, task.taskId, { taskOwner: 'other', since: task.startedAt, now });

/** Finds the report that a task made. Requests it if the task was about other days. */
export async function findReport(acting: Making, state: Step<'find'>): Promise<Answer<State>> {
  const { ended: end } = acting;
  const { since, taskOwner, ...mailing } = state;
  const isLost = end?.is === 'failed' && end.reason === 'unknown-effect';
  // A task that the service no longer has may still have made its report.
  if (end && end.is !== 'done' && !isLost)
    return taskOwner === 'other' ? { is: 'next', state: { ...mailing, step: 'make' } } : end;
  const { found, until } = await reportIn(acting, mailing, { taskOwner, since });
  if (found) return continueWith(acting, mailing, found, taskOwner === 'other' ? undefined : since);
  if (until) return until;
  const others = await isAnyNew(acting, since);
  // Without an end, planning found a report, which is now gone.
  if (taskOwner === 'other' && (others || isLost || !end))
    return { is: 'next', state: { ...mailing, step: 'make' } };
  if (isLost) return end;
  if (taskOwner === 'maybe-own' && others) {
    const detail =
      'The answer to createReport was lost, and the task that was found made another report on the site. The next run makes this one, unless it exists by then.';
    return { is: 'failed', reason: 'unknown-effect', detail };
  }
  const detail = 'The task of the report completed, but the service does not list the report.';
  return { is: 'waiting', reason: 'unavailable', detail };
}

/** The reports on the target's site that can be about its days, newest first. */
async function* reportsOf({ all, target, ...acting }: Making): AsyncGenerator<Report> {
  const created_at = createdSince(periodIn(acting), acting.runContext.timezone);
  const query = { filters: { site_id: { eq: target.id }, created_at }, sort: 'created_at,desc' };
  for await (const report of all('listReports', query)) if (isOn(report, target.id)) yield report;
}

/** Whether a report is on a site, as far as it shows that: one on another site belongs to another client. */
const isOn = ({ site }: Report, siteId: string): boolean => site === undefined || site.id === siteId;

/** Whether any report on the site was made since `at`, which is a time of our clock. */
async function isAnyNew(acting: Making, at: number): Promise<boolean> {
  const since = await acting.serviceTime(at);
  for await (const { created_at } of reportsOf(acting))
    if (orderIn(created_at, since) !== 'before') return true;
  return false;
}

/**
 * The report of the mailing's scope on the target's site and days: the one in our records, or else the newest
 * that is not in our records. With `dedupe_by: subject`, a report that was just made may not have its subject
 * yet. So a report also counts that was made since `since` by a task that is or may be ours. `until`: the
 * answer to wait with when another target is making a report on the same days, because it may be that one.
 */
async function reportIn(
  acting: Making,
  { scope, subjects }: Pick<Mailing, 'scope' | 'subjects'>,
  { taskOwner, since }: Pick<Step<'find'>, 'taskOwner' | 'since'>,
): Promise<{ found?: Report; until?: Extract<Answer<never>, { is: 'waiting' }> }> {
  const { once, target, now } = acting;
  const period = periodIn(acting);
  const about: Report[] = [];
  for await (const entry of reportsOf(acting)) {
    if (entry.type === 'scheduled') continue;
    const report = showsWhatAbout(entry) ? entry : await completeReport(acting.api, entry);
    const isOne = report && report.type !== 'scheduled' && isOn(report, target.id);
    if (isOne && isAbout(report, period)) about.push(report);
  }
  const recorded = await acting.once.results(about.map(({ id }) => scopeKey(id)));
  const own = about.find((_, at) => recorded[at] === scope);
  if (own) return { found: own };
  const made = await acting.serviceTime(since);
  const turn = await once.holder(makingKey(target.id, period));
  const isOthers = turn && !turn.isOurs && !isMade(turn) && turn.result !== requestedFor(scope);
  const othersSince = isOthers ? await acting.serviceTime(turn.at) : undefined;
  const looksOurs = (report: Report) => {
    if (othersSince && orderIn(report.created_at, othersSince) !== 'before') return false;
    const isNew = taskOwner !== 'other' && orderIn(report.created_at, made) !== 'before';
    return isNew || withSubject(subjects)(report);
  };
  const found = about.find((report, at) => isOfScope(report, scope, recorded[at], looksOurs));
  if (found) return { found };
  if (!isOthers || turn.endedAt !== undefined) return {};
  return { until: waitForHolder('making a report on the same days', turn, waitUntil(turn, now) ?? now) };
}

/**
 * Continues with a report that exists: sends it to the recipients who were not sent it. Records its scope.
 * `requestedAt`: when this target requested a report, if this report may be the result.
 */
async function continueWith(
  acting: Making,
  { step: _, ...mailing }: Mailing & { step?: string },
  report: Report,
  requestedAt?: number,
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
    requestedAt === undefined ? 'before' : orderIn(report.created_at, await acting.serviceTime(requestedAt));
  const shown = report.email?.recipients ? report : ((await completeReport(acting.api, report)) ?? report);
  const { open, missed, unconfirmed, end } = mailsSoFar(mailing.to, [shown]);
  const resend = missed.filter((email) => mailTo(mailing.before ?? [], email));
  const to = [...open, ...unconfirmed, ...resend];
  if (to.length === 0) return end;
  const isForeign = isRecorded === undefined && requestedAt === undefined && holder.isOurs;
  const facts = {
    ...mailing,
    to,
    // A report that was just made for us cannot have been sent by anyone else.
    ...(unconfirmed.length > 0 && order === 'before' ? { unconfirmed } : {}),
    ...(isForeign ? { adopted: true as const } : {}),
  };
  return { is: 'next', state: withReport(facts, shown, options) };
}

/** Finds the report of a request whose answer was lost. */
export async function adoptReport(
  acting: Making,
  state: Step<'make'>,
  intent: Intent,
): Promise<Reconciled<State>> {
  const { effects, target, now } = acting;
  const { found, until } = await reportIn(acting, state, { taskOwner: 'maybe-own', since: intent.at });
  if (found) return continueWith(acting, state, found, intent.at);
  if (until) return until;
  const tasks: Task[] = [];
  for await (const task of reportTasksSince(acting, intent.at)) {
    const names = sitesOf(task);
    const mayBeOurs = names.length === 0 || names.includes(target.id);
    if (mayBeOurs && !(await effects.belongsToOther('createReport', task.id))) tasks.push(task);
  }
  const running = tasks.filter(({ status }) => !hasEnded(status));
  for (const task of running)
    if (sitesOf(task).includes(target.id) && (await effects.claim('createReport', task.id)))
      return followTask(state, task.id, { taskOwner: 'maybe-own', since: intent.at });
  if (running.length > 0) return waitForUnknownTask(acting);
  const made = tasks.some(({ status }) => status === 'completed');
  if (!made || now >= intent.at + LISTED_WITHIN_MS) return { is: 'absent' };
  const detail = 'A task has completed a report since, but the service does not list it yet.';
  return { is: 'waiting', reason: 'unavailable', detail, until: now + LOOK_AGAIN_MS };
}
