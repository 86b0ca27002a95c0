/**
 * Checks the service's own auto updates (spec 4.7). It reports what their runs did since the last check and
 * what failed, which schedules do not run, and which sites no schedule updates. If the policy enables it, it
 * also enables paused schedules and pauses schedules that fail too often. Otherwise it changes nothing.
 *
 * Each schedule is a target, and so is each site with something to report. Most targets are decided while
 * planning, from lists. Only a schedule with a run in progress, or one that has to be changed, has a step.
 */
import { z } from 'zod';
import { middleOf } from '../../src/clock.ts';
import type { Answer } from '../../src/job/answer.ts';
import type { Api, JobApi } from '../../src/job/api.ts';
import { targetOfSite } from '../../src/job/candidates.ts';
import { defineJob } from '../../src/job/job.ts';
import { duration, notWithin, percent } from '../../src/job/options.ts';
import { problemWith } from '../../src/job/problem.ts';
import { shown } from '../../src/job/shown.ts';
import { findSites, readCores, type SiteCores } from './core-coverage.ts';
import {
  allConditions,
  type Effect,
  type ExaminedSchedule,
  effectOn,
  effects,
  scheduleEnd,
  siteEnd,
} from './findings.ts';
import { readRunOf, readUpdateHistory, type ScheduleHistory } from './history.ts';
import { type HistoryEntry, isInProgress, isSuccessful, type UpdateRun } from './runs.ts';
import {
  compileThresholds,
  readSince,
  Threshold,
  thresholdConditions,
  thresholdFaults,
} from './thresholds.ts';

const Options = z.strictObject({
  fail_on: z
    .array(z.enum(allConditions))
    .default(['vulnerable', 'failed', 'overdue', 'uncovered'])
    .describe(
      'The problems that make a target fail: `failed` (an update failed or was aborted), `vulnerable`, `overdue`, `uncovered`, `paused`, `no-history`. All problems are reported. Default: vulnerable, failed, overdue, uncovered.',
    ),
  lookback: duration(3_600_000)
    .prefault('14d')
    .describe('How far the first check of a schedule looks back. Default 14d.'),
  overdue_after: duration()
    .prefault('6h')
    .describe('How long after `next_update_at` an active schedule that has not run is overdue. Default 6h.'),
  follow_for: duration()
    .prefault('1h')
    .describe(
      'How long a run in progress is followed: less than `timeout.target`. With 0 the next check reports it. Default 1h.',
    ),
  enable_paused: z
    .boolean()
    .default(false)
    .describe(
      'Enables paused schedules, except schedules that `pause_on_failed_rate` would pause again. Default false.',
    ),
  pause_on_failed_rate: percent(0, 100)
    .optional()
    .describe(
      'Pauses a schedule whose last run failed or was aborted on more than this percentage of its sites. Default: never.',
    ),
  thresholds: z
    .array(Threshold)
    .default([])
    .describe(
      'How long `vulnerable` and `uncovered` may last on a site before its target fails. The first entry whose `where` holds decides. Default none: it fails at once.',
    ),
});
type Options = z.output<typeof Options>;

const State = z.object({
  plannedAt: z.number(),
  since: z.number(),
  /** The time from which the schedule's history has to be read again. */
  from: z.number(),
  /** The tasks of the runs to report, and those of them whose details have to be read. */
  tasks: z.array(z.string()),
  closely: z.array(z.string()),
  /** The tasks that have to be followed. */
  going: z.array(z.string()),
  /** How many older runs are not reported. */
  unreported: z.number(),
  /** How many sites the account has, which determines what it costs to list them. */
  sites: z.number(),
  did: z.enum(['enableAutoUpdateSchedule', 'disableAutoUpdateSchedule']).optional(),
  /** The service's message when it refused the change. */
  refused: z.string().optional(),
});
type State = z.output<typeof State>;

interface Survey {
  schedules: Map<string, ExaminedSchedule & Pick<ScheduleHistory, 'entries'>>;
  /** The tasks of `AccountHistory.suspicious`. */
  suspicious: ReadonlySet<string>;
  cores: SiteCores;
  /** Since when sites have had their problems, by id. */
  since: ReadonlyMap<string, number>;
}

/** The most tasks whose details are read while planning. Of other runs, only the run itself is reported. */
const MAX_TASKS = 100;
const PAGE = 100;

export const updateCheck = defineJob({
  name: 'update-check',
  summary: 'Reports what auto updates did, what failed, what is stalled and what they do not cover.',
  reasons: {
    'update-failed': {
      text: 'An update of the schedule failed or was aborted on at least one site; the findings show which and why.',
      found: true,
    },
    vulnerable: { text: 'The site has a core with a known vulnerability.', found: true },
    uncovered: {
      text: 'The core of the site has an update, and no active schedule updates it.',
      found: true,
    },
    overdue: {
      text: 'The schedule is active, but has not run although it has been due for a long time.',
      found: true,
    },
    'schedule-paused': { text: 'The schedule is paused: it updates nothing.', found: true },
    'no-history': { text: 'The schedule has never run.', found: true },
  },
  options: Options,
  candidates: 'listAutoUpdateSchedules',
  state: State,
  target: ({ id, name }) => ({ id, label: name ?? id }),
  requestsPerTarget: 4,
  changes: ({ enable_paused, pause_on_failed_rate }) => [
    ...(enable_paused ? ['enableAutoUpdateSchedule' as const] : []),
    ...(pause_on_failed_rate === undefined ? [] : ['disableAutoUpdateSchedule' as const]),
  ],
  expressions: ({ thresholds }) => thresholdConditions(thresholds),
  check: ({ follow_for, thresholds }, { targetMs }) => [
    ...notWithin('follow_for', follow_for, targetMs),
    ...thresholdFaults(thresholds),
  ],

  async prepare({ api, all, earlier, serviceTime, options, now }): Promise<Survey> {
    const history = await readUpdateHistory({ api, all, earlier }, now - options.lookback);
    const { suspicious } = history;
    const schedules: Survey['schedules'] = new Map();
    let tasksLeft = MAX_TASKS;
    for (const [id, own] of history.schedules) {
      // A schedule with a run in progress is examined when that has ended.
      const isWaiting = own.entries.some(isInProgress);
      const readsTask = (entry: HistoryEntry) =>
        !isWaiting && needsDetails(entry, own, options, suspicious) && tasksLeft-- > 0;
      schedules.set(id, { ...(await examineRuns(api, own, readsTask)), entries: own.entries });
    }
    const { thresholds } = options;
    const maxAgeOf = compileThresholds(thresholds, new Date(middleOf(await serviceTime(now))));
    const since = await readSince(earlier());
    return { schedules, suspicious, cores: await readCores({ api, all }, maxAgeOf), since };
  },

  evaluate(schedule, { options, prepared: { schedules, suspicious, cores }, now, serviceNow }) {
    const examined = schedules.get(schedule.id);
    if (!examined) return { is: 'excluded', why: 'It was not listed yet when planning started' };
    const status = shown(schedule.status, 'schedule.status');
    if (status === 'active') shown(schedule.next_update_at, 'schedule.next_update_at');
    const one = { ...examined, schedule };
    const going = taskIds(one.entries.filter(isInProgress));
    if (going.length === 0 && !effectOn(one, options)) {
      return {
        is: 'ended',
        end: scheduleEnd(one, options, serviceNow, (site) => cores.sites.get(site)?.url ?? site),
      };
    }
    const tasks = taskIds(one.entries);
    const times = [...one.runs, ...(one.latest ? [one.latest] : [])].map(({ at }) => at);
    const state: State = {
      plannedAt: now,
      since: one.since,
      from: Math.min(one.since, ...times.filter((at) => at > 0)),
      tasks,
      closely: tasks.filter((task) => suspicious.has(task)),
      going,
      unreported: one.unreported,
      sites: cores.sites.size,
    };
    return { is: 'target', state };
  },

  *extraTargets({ options, prepared: { schedules, cores, since }, now }) {
    const active = [...schedules.values()].map((one) => {
      const { status } = one.schedule;
      const isActive = status === 'active' || effectOn(one, options) === 'enableAutoUpdateSchedule';
      return { schedule: one.schedule, isActive: status === undefined ? undefined : isActive };
    });
    for (const found of findSites(cores, active)) {
      yield {
        id: targetOfSite(found.site.id),
        label: found.site.url,
        is: 'ended',
        end: siteEnd(found, options, { since: since.get(found.site.id) ?? now, now }),
      };
    }
  },

  async act({ api, all, serviceTime, target, options, state, ended, now }): Promise<Answer<State>> {
    if (!state) throw new Error('A schedule was planned without a state.');
    const [taskId, ...going] = state.going;
    const until = state.plannedAt + options.follow_for;
    const isOver = ended?.reason === 'timeout' || ended?.reason === 'unconfirmed';
    if (taskId !== undefined && now < until && !isOver) {
      const watch = { kind: 'task', taskId, since: state.plannedAt, until, adopted: true } as const;
      return { is: 'following', watch, next: { ...state, going } };
    }
    const examined = await examineAgain({ api, all }, target.id, state, options);
    const effect = state.did ? undefined : effectOn(examined, options);
    if (!effect) {
      const label = await labelsOf({ api, all }, examined.runs, state.sites);
      return scheduleEnd(examined, options, middleOf(await serviceTime(now)), label);
    }
    const done: State = { ...state, going: [], did: effect };
    try {
      await api[effect]({ auto_update_schedule_id: target.id });
      return { is: 'next', state: done };
    } catch (error) {
      const { rejected } = problemWith(error);
      if (!rejected) throw error;
      const { auto_update_schedule: schedule } = await api.showAutoUpdateSchedule({
        auto_update_schedule_id: target.id,
      });
      // A person may have made the same change in the meantime: then nothing has to be done.
      const isDone = schedule.status === effects[effect];
      return { is: 'next', state: isDone ? done : { ...done, refused: rejected.message } };
    }
  },

  // `act` reads the schedule and its runs again before each change, also those that were in progress at the plan.
  verify: async () => ({ differs: () => undefined }),

  async reconcile({ api, target, state }, { operation }) {
    const { auto_update_schedule: schedule } = await api.showAutoUpdateSchedule({
      auto_update_schedule_id: target.id,
    });
    const effect = operation as Effect;
    if (state && schedule.status === effects[effect]) {
      return { is: 'next', state: { ...state, going: [], did: effect } };
    }
    if (schedule.status === 'active' || schedule.status === 'paused') return { is: 'absent' };
    return { is: 'unknown', detail: 'The service does not show whether the schedule is paused.' };
  },
});

const taskIds = (entries: readonly HistoryEntry[]): string[] =>
  entries.flatMap(({ task_id }) => task_id ?? []);

/**
 * Whether the details of a run's task have to be read, which costs a request: the run may have failed on some
 * site, and it is reported or decides whether the schedule is enabled.
 */
function needsDetails(
  entry: HistoryEntry,
  { entries, schedule }: ScheduleHistory,
  options: Options,
  suspicious: ReadonlySet<string>,
): boolean {
  if (isInProgress(entry) || !entry.task_id) return false;
  if (isSuccessful(entry) && !suspicious.has(entry.task_id)) return false;
  const decides = options.enable_paused && options.pause_on_failed_rate !== undefined;
  return entries.includes(entry) || (schedule.status === 'paused' && decides);
}

/** Reads the runs of a schedule. Costs one request for each run whose task is read. */
async function examineRuns(
  api: Api,
  { schedule, since, unreported, entries, latest }: ScheduleHistory,
  readsTask: (entry: HistoryEntry) => boolean,
): Promise<ExaminedSchedule> {
  const runs: UpdateRun[] = [];
  for (const entry of entries) runs.push(await readRunOf(api, entry, readsTask(entry)));
  const last = latest && (runs[entries.indexOf(latest)] ?? (await readRunOf(api, latest, readsTask(latest))));
  return { schedule, since, unreported, runs, ...(last ? { latest: last } : {}) };
}

/**
 * Examines a schedule again after its runs in progress have ended. Costs one or two requests, and one for each
 * run whose task is read.
 */
async function examineAgain(
  { api, all }: Pick<JobApi, 'api' | 'all'>,
  id: string,
  { tasks, closely, since, from, unreported, did, refused }: State,
  options: Options,
): Promise<ExaminedSchedule> {
  const { auto_update_schedule: schedule } = await api.showAutoUpdateSchedule({
    auto_update_schedule_id: id,
  });
  // If the service does not show the status, it follows from the change that this check made.
  const status = schedule.status ?? (did && refused === undefined ? effects[did] : undefined);
  const known = { ...schedule, status: shown(status, 'schedule.status') };
  const own: HistoryEntry[] = [];
  const filters = {
    auto_update_schedule_id: { eq: id },
    performed_on: { gte: new Date(from).toISOString() },
  };
  for await (const entry of all('listAutoUpdateHistory', { filters })) own.push(entry);
  const entries = own.filter(({ task_id, performed_on }) =>
    task_id ? tasks.includes(task_id) : !(Date.parse(performed_on ?? '') < since),
  );
  const [latest] = own;
  const history = { schedule: known, since, unreported, entries, ...(latest ? { latest } : {}) };
  const suspicious = new Set(closely);
  const examined = await examineRuns(api, history, (entry) =>
    needsDetails(entry, history, options, suspicious),
  );
  return { ...examined, did, refused };
}

/** The addresses of the sites of these runs: from single views, or from the list of all sites if that costs less. */
async function labelsOf(
  { api, all }: Pick<JobApi, 'api' | 'all'>,
  runs: readonly UpdateRun[],
  sites: number,
): Promise<(id: string) => string> {
  const ids = new Set(runs.flatMap((run) => run.sites.map(({ id }) => id)));
  const urls = new Map<string, string>();
  if (ids.size > Math.ceil(sites / PAGE)) {
    for await (const { id, url } of all('listSites', {})) urls.set(id, url);
  } else {
    for (const site_id of ids) {
      const single = await api.showSite({ site_id }).catch((error: unknown) => {
        if (problemWith(error).gone) return undefined;
        throw error;
      });
      if (single) urls.set(site_id, single.site.url);
    }
  }
  return (id) => urls.get(id) ?? id;
}
