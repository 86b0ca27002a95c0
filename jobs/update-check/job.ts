/**
 * Looks after the service's own auto updates (spec 4.7): tells what their runs did since the last check and
 * what failed, which schedules stand still, and which sites no schedule keeps up to date. Changes nothing
 * unless the policy asks for it: then it enables paused schedules, or pauses those that fail too much.
 *
 * A schedule is a target; so is a site of which there is something to tell. Most of it is seen while
 * planning, by lists. A step of its own has only what still goes on, and is followed to its end, and what is
 * to be changed.
 */
import { z } from 'zod';
import { middleOf } from '../../src/clock.ts';
import type { Answer } from '../../src/job/answer.ts';
import type { Api, JobApi } from '../../src/job/api.ts';
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
import { type HistoryEntry, isGoing, type UpdateRun, wentWell } from './runs.ts';

const Options = z.strictObject({
  fail_on: z
    .array(z.enum(allConditions))
    .default(['vulnerable', 'failed', 'overdue', 'uncovered'])
    .describe(
      'What makes a target failed: `failed` (an update failed or was aborted), `vulnerable`, `overdue`, `uncovered`, `paused`, `no-history`. The rest is reported as well. Default: vulnerable, failed, overdue, uncovered.',
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
      'Enables paused schedules, except those that `pause_on_failed_rate` would pause again. Default false.',
    ),
  pause_on_failed_rate: percent(0, 100)
    .optional()
    .describe(
      'Pauses a schedule whose last run failed, or was aborted, on more than this percentage of its sites. Default: never.',
    ),
});
type Options = z.output<typeof Options>;

const State = z.object({
  plannedAt: z.number(),
  since: z.number(),
  /** From when on the schedule's history has to be read again. */
  from: z.number(),
  /** The tasks of the runs to tell of, and those among them whose details are wanted. */
  tells: z.array(z.string()),
  closely: z.array(z.string()),
  /** The tasks that are still to be followed. */
  going: z.array(z.string()),
  untold: z.number(),
  /** How many sites the account has: what it costs to list them. */
  sites: z.number(),
  did: z.enum(['enableAutoUpdateSchedule', 'disableAutoUpdateSchedule']).optional(),
  /** What the service said instead of doing it. */
  refused: z.string().optional(),
});
type State = z.output<typeof State>;

interface Survey {
  looked: Map<string, ExaminedSchedule & Pick<ScheduleHistory, 'entries'>>;
  suspicious: ReadonlySet<string>;
  cores: SiteCores;
}

/** So many tasks of runs that went wrong are read while planning; of more, only the run itself is told. */
const MAX_TASKS = 100;
const PAGE = 100;
export const updateCheck = defineJob({
  name: 'update-check',
  summary: 'Reports what auto updates did, what failed, what is stalled and what they do not cover.',
  reasons: {
    'update-failed': {
      text: 'An update of the schedule failed or was aborted on some site; the findings say which and why.',
    },
    vulnerable: { text: 'The site has a core with a known vulnerability.' },
    uncovered: { text: 'The site has a core update waiting, and no active schedule updates its core.' },
    overdue: { text: 'The schedule should have run long ago and has not.' },
    'schedule-paused': { text: 'The schedule is paused: it updates nothing.' },
    'no-history': { text: 'The schedule has never run.' },
  },
  options: Options,
  candidates: 'listAutoUpdateSchedules',
  state: State,
  target: ({ id, name }) => ({ id, label: name ?? id }),
  requestsPerTarget: 4,
  check: ({ follow_for }, { targetMs }) => notWithin('follow_for', follow_for, targetMs),

  async prepare({ api, all, earlier, options, now }): Promise<Survey> {
    const { schedules, suspicious } = await readUpdateHistory({ api, all, earlier }, now - options.lookback);
    const looked: Survey['looked'] = new Map();
    let left = MAX_TASKS;
    for (const [id, history] of schedules) {
      // What still goes on is looked at when it has ended.
      const waits = history.entries.some(isGoing);
      const isClose = (entry: HistoryEntry) =>
        !waits && deservesLook(entry, history, options, suspicious) && left-- > 0;
      looked.set(id, { ...(await lookAt(api, history, isClose)), entries: history.entries });
    }
    return { looked, suspicious, cores: await readCores({ api, all }) };
  },

  evaluate(schedule, { options, prepared: { looked, suspicious, cores }, now, serviceNow }) {
    const examined = looked.get(schedule.id);
    if (!examined) return { is: 'excluded', why: 'It was created while the plan was made' };
    const status = shown(schedule.status, 'schedule.status');
    if (status === 'active') shown(schedule.next_update_at, 'schedule.next_update_at');
    const one = { ...examined, schedule };
    const going = taskIds(one.entries.filter(isGoing));
    if (going.length === 0 && !effectOn(one, options)) {
      return {
        is: 'ended',
        end: scheduleEnd(one, options, serviceNow, (site) => cores.sites.get(site)?.url ?? site),
      };
    }
    const tells = taskIds(one.entries);
    const moments = [...one.runs, ...(one.latest ? [one.latest] : [])].map(({ at }) => at);
    const state: State = {
      plannedAt: now,
      since: one.since,
      from: Math.min(one.since, ...moments.filter((at) => at > 0)),
      tells,
      closely: tells.filter((task) => suspicious.has(task)),
      going,
      untold: one.untold,
      sites: cores.sites.size,
    };
    return { is: 'target', state };
  },

  *extraTargets({ options, prepared: { looked, cores } }) {
    const active = [...looked.values()].map((one) => {
      const { status } = one.schedule;
      const isActive = status === 'active' || effectOn(one, options) === 'enableAutoUpdateSchedule';
      return { schedule: one.schedule, isActive: status === undefined ? undefined : isActive };
    });
    for (const found of findSites(cores, active)) {
      yield {
        id: `site:${found.site.id}`,
        label: found.site.url,
        is: 'ended',
        end: siteEnd(found, options),
      };
    }
  },

  async act({ api, all, serviceTime, target, options, state, ended, now }): Promise<Answer<State>> {
    if (!state) throw new Error('A schedule is planned with a state.');
    const [taskId, ...going] = state.going;
    const until = state.plannedAt + options.follow_for;
    if (taskId !== undefined && now < until && ended?.reason !== 'timeout') {
      const watch = { kind: 'task', taskId, since: state.plannedAt, until, adopted: true } as const;
      return { is: 'following', watch, next: { ...state, going } };
    }
    const looked = await lookAgain({ api, all }, target.id, state, options);
    const effect = state.did ? undefined : effectOn(looked, options);
    if (!effect) {
      const label = await labelsOf({ api, all }, looked.runs, state.sites);
      return scheduleEnd(looked, options, middleOf(await serviceTime(now)), label);
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
      // Somebody else was faster: then it is as it should be.
      const isDone = schedule.status === effects[effect];
      return { is: 'next', state: isDone ? done : { ...done, refused: rejected.message } };
    }
  },

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
 * Whether the details of a run's task are worth a request: something went wrong, and somebody wants to know
 * it.
 */
function deservesLook(
  entry: HistoryEntry,
  { entries, schedule }: ScheduleHistory,
  options: Options,
  suspicious: ReadonlySet<string>,
): boolean {
  if (isGoing(entry) || !entry.task_id) return false;
  if (wentWell(entry) && !suspicious.has(entry.task_id)) return false;
  const decides = options.enable_paused && options.pause_on_failed_rate !== undefined;
  return entries.includes(entry) || (schedule.status === 'paused' && decides);
}

/** Reads the runs of a schedule. Costs a request for each of which `isClose` holds. */
async function lookAt(
  api: Api,
  { schedule, since, untold, entries, latest }: ScheduleHistory,
  isClose: (entry: HistoryEntry) => boolean,
): Promise<ExaminedSchedule> {
  const runs: UpdateRun[] = [];
  for (const entry of entries) runs.push(await readRunOf(api, entry, isClose(entry)));
  const last = latest && (runs[entries.indexOf(latest)] ?? (await readRunOf(api, latest, isClose(latest))));
  return { schedule, since, untold, runs, ...(last ? { latest: last } : {}) };
}

/**
 * Reads again what the state says, when what went on has ended. Costs a request or two, and one a run that
 * went wrong.
 */
async function lookAgain(
  { api, all }: Pick<JobApi, 'api' | 'all'>,
  id: string,
  { tells, closely, since, from, untold, did, refused }: State,
  options: Options,
): Promise<ExaminedSchedule> {
  const { auto_update_schedule: schedule } = await api.showAutoUpdateSchedule({
    auto_update_schedule_id: id,
  });
  // What this check did is known, also where the service does not show it.
  const status = schedule.status ?? (did && refused === undefined ? effects[did] : undefined);
  const known = { ...schedule, status: shown(status, 'schedule.status') };
  const own: HistoryEntry[] = [];
  const filters = {
    auto_update_schedule_id: { eq: id },
    performed_on: { gte: new Date(from).toISOString() },
  };
  for await (const entry of all('listAutoUpdateHistory', { filters })) own.push(entry);
  const entries = own.filter(({ task_id, performed_on }) =>
    task_id ? tells.includes(task_id) : !(Date.parse(performed_on ?? '') < since),
  );
  const [latest] = own;
  const history = { schedule: known, since, untold, entries, ...(latest ? { latest } : {}) };
  const suspicious = new Set(closely);
  const looked = await lookAt(api, history, (entry) => deservesLook(entry, history, options, suspicious));
  return { ...looked, did, refused };
}

/**
 * The addresses of the sites of some runs: asked for one by one, or all of the account's where that costs
 * less.
 */
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
      const shown = await api.showSite({ site_id }).catch((error: unknown) => {
        if (problemWith(error).gone) return undefined;
        throw error;
      });
      if (shown) urls.set(site_id, shown.site.url);
    }
  }
  return (id) => urls.get(id) ?? id;
}
