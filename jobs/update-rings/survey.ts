/**
 * Reads the rings as they are: sites, schedules, and what their runs did (spec 2.8, 2.9, 2.10). Costs one request per 100
 * sites, schedules and history entries, and one for each run that has ended and was not read before.
 */
import { isoMinute, isoTime, middleOf } from '../../src/clock.ts';
import type { Item } from '../../src/contract/operations.ts';
import { NotShownError } from '../../src/expression/fields.ts';
import type { Api, JobApi, RunContext } from '../../src/job/api.ts';
import {
  decisionsIn,
  decisionsKey,
  type FindingsOf,
  type Looks,
  type RingDecisions,
} from '../../src/job/look.ts';
import { problemWith } from '../../src/job/problem.ts';
import { shown } from '../../src/job/shown.ts';
import { assign } from './assign.ts';
import { type Decision, type Decisions, decide, goalOf, type Updates } from './decide.ts';
import { keyOf, type RunSite } from './evidence.ts';
import {
  alsoUpdating,
  type Bypassing,
  type Desired,
  type Difference,
  desiredOf,
  differences,
  notShown,
  ringIn,
  setIn,
  updatesIn,
} from './native.ts';
import { compileRing, type Options } from './options.ts';
import { brokenSince, checksOf, readRun, type SurveyedRun, taskOf, tookIn } from './read-run.ts';

type Schedule = Item<'listAutoUpdateSchedules'>;
type Entry = Item<'listAutoUpdateHistory'>;
type Site = Item<'listSites'>;
export interface SurveyedRing {
  name: string;
  sites: string[];
  /** Its schedule; undefined when there is none yet. */
  schedule: Schedule | undefined;
  /** Other schedules with the same mark, which are not touched. */
  others: Schedule[];
  desired: Desired;
  differences: Difference[];
  /** The fields that a person changed since we set them. */
  drifted: string[];
  runs: SurveyedRun[];
  /** What our record of its schedule has to be; undefined when it is so. A field that a person changed stays in it. */
  toRecord: RingRecord | undefined;
  /** Tasks that have not started and must not. */
  cancel: string[];
}

export interface Survey extends Decisions {
  ringsOf: SurveyedRing[];
  /** The sites that are not well, since when they are known to be. */
  unwell: Record<string, string>;
  /** Other active schedules that update sites of the rings. */
  bypassing: Bypassing[];
  /** Schedules of rings that the policy no longer has. */
  left: Schedule[];
  urls: ReadonlyMap<string, string>;
  ownership: ReadonlyMap<string, string>;
  now: number;
  zone: string;
}

interface Reading extends JobApi {
  options: Options;
  runContext: RunContext;
  now: number;
  results(keys: readonly string[]): Promise<(string | undefined)[]>;
  looks: Pick<Looks, 'last'>;
  findingsOf: FindingsOf;
  /**
   * The ring that is to be changed: its schedule is read by its id, since a list may be late. Where a person approved the
   * plan, it gets what that said (`goalOf`), or nothing.
   */
  changing?: { ring: string; goal: string | undefined };
}

export const ringKey = (policy: string, ring: string): string => `update-rings ${policy}/${ring}`;
export const runKey = (policy: string, task: string): string => `update-rings ${policy} run ${task}`;
/** What is recorded about the schedule of a ring: its id, and each field as we set it. */
export interface RingRecord {
  id: string;
  set: Record<string, string>;
  /** Since when it is so; missing while it is being made. */
  at?: number;
}

export async function surveyRings({
  api,
  all,
  options,
  runContext,
  results,
  ...given
}: Reading): Promise<Survey> {
  const { policy, timezone: zone } = runContext;
  const now = middleOf(await given.serviceTime(given.now));
  const sites = new Map<string, Site>();
  for await (const site of all('listSites', {})) sites.set(site.id, site);
  const rules = options.rings.map(({ name, where, percent }) => {
    const condition = where === undefined ? undefined : compileRing(where);
    return {
      name,
      percent,
      holds: condition && ((site: object) => condition.of({ site }, new Date(now)) === true),
    };
  });
  const members = assign(rules, [...sites.values()]);

  const marked: Schedule[] = [];
  for await (const schedule of all('listAutoUpdateSchedules', {})) marked.push(schedule);
  const [ofPeople] = await results([decisionsKey(policy)]);
  const { holds, released } = decisionsIn(ofPeople);
  const ids = await results(rules.map(({ name }) => ringKey(policy, name)));
  const records = ids.map((text) => (text === undefined ? undefined : (JSON.parse(text) as RingRecord)));
  // A list may be late: what we made is read by its id.
  for (const id of new Set(records.flatMap((record) => record?.id ?? [])))
    if (!marked.some((one) => one.id === id)) marked.push(...(await scheduleOf(api, id)));
  const own = rules.map(({ name }, index) => {
    const withMark = marked.filter((one) => ringIn(policy, shown(one.name, 'schedule.name')) === name);
    const schedule = marked.find(({ id }) => id === records[index]?.id) ?? withMark[0];
    return { schedule, others: withMark.filter((one) => one !== schedule) };
  });
  const toChange = own[rules.findIndex(({ name }) => name === given.changing?.ring)];
  if (toChange?.schedule) [toChange.schedule] = await scheduleOf(api, toChange.schedule.id);
  for (const one of own) {
    if (one.schedule && notShown(one.schedule).length > 0)
      [one.schedule] = await scheduleOf(api, one.schedule.id);
    const [field] = one.schedule ? notShown(one.schedule) : [];
    if (field !== undefined) throw new NotShownError(`auto_update_schedule.${field}`);
  }
  const left = marked.filter(({ id, name = '' }) => {
    const ring = ringIn(policy, name);
    return (
      ring !== undefined &&
      !rules.some((one) => one.name === ring) &&
      !own.some((one) => one.schedule?.id === id)
    );
  });

  const entries = await entriesOf(all, now - options.lookback);
  const checks = await checksOf(options.evidence.findings_of, given.findingsOf);
  const known = (await given.looks.last())?.unwell ?? {};
  const unwell = Object.fromEntries(
    [...sites.values()].flatMap((site) =>
      brokenSince(site, 0, checks) ? [[site.id, known[site.id] ?? isoTime(now)] as const] : [],
    ),
  );
  const reading = { api, sites, now, soak: options.soak, unwell, checks };
  const runs: SurveyedRun[][] = [];
  // A schedule that a person deleted is known by its mark.
  const ringOf = ({ auto_update_schedule: { id, name = '' } = { id: '' } }: Entry) =>
    rules[own.findIndex(({ schedule }) => schedule?.id === id)]?.name ?? ringIn(policy, name);
  for (const [i, { schedule }] of own.entries()) {
    const mine = inOrder(entries.filter((one) => ringOf(one) === rules[i]?.name));
    const known = await results(mine.map((one) => runKey(policy, taskOf(one))));
    const read: SurveyedRun[] = [];
    for (const [run, entry] of mine.entries())
      read.push(
        await readRun(reading, entry, known[run], namedIn(entry, schedule, records[i], options.drift)),
      );
    runs.push(read);
  }

  const isOwn = (one: Entry) => rules.some(({ name }) => name === ringOf(one));
  const elsewhere = entries.flatMap((one) => {
    const sites = (one.sites ?? []).map(({ id, wp }) => ({ id, took: tookIn(wp) }));
    return isOwn(one) ? [] : [{ at: Date.parse(one.performed_on ?? '') || 0, ended: true, sites }];
  });
  const decided = decide(
    rules.map(({ name }, i) => ({ name, runs: runs[i] ?? [] })),
    {
      ...options.updates,
      plugins: options.updates.plugins === 'all',
      themes: options.updates.themes === 'all',
    },
    {
      soak: options.soak,
      minSites: options.evidence.min_sites,
      most: {
        failed: options.evidence.max_failed,
        disconnected: options.evidence.max_disconnected,
        hacked: options.evidence.max_hacked,
        found: options.evidence.max_found,
      },
      usual: options.evidence.usual / 100,
      chance: options.evidence.chance / 100,
      released: new Set(
        [...Object.entries(options.release), ...versionsOf(released)].map((one) => keyOf(...one)),
      ),
    },
    options.when_bad,
    now,
    elsewhere,
    new Map(Object.entries(holds).map(([ring, hold]) => [ring, holdText(hold)])),
  );
  const { ring: changing, goal } = (runContext.needsApproval && given.changing) || {};
  const isNotPlanned = (decision: Decision, i: number) =>
    rules[i]?.name === changing && goal !== undefined && goalOf(decision) !== '' && goalOf(decision) !== goal;
  const decisions = {
    ...decided,
    rings: decided.rings.map((one, i) =>
      isNotPlanned(one, i) ? { is: 'wait' as const, why: [NOT_PLANNED] } : one,
    ),
  };
  const ringsOf = rules.map(({ name }, i): SurveyedRing => {
    const ring = { name, index: i, sites: (members[i] ?? []).map(({ id }) => id) };
    const decision: Decision = decisions.rings[i] ?? { is: 'wait', why: [] };
    const desired = desiredOf(ring, decision, policy, options.native);
    const { schedule, others = [] } = own[i] ?? {};
    const found = schedule ? differences(desired, schedule, zone, now) : [];
    const before = records[i]?.id === schedule?.id ? records[i]?.set : undefined;
    const drifted = found.filter(
      ({ field }) => before?.[field] !== undefined && schedule && before[field] !== setIn(schedule)[field],
    );
    const ofPerson = drifted.map(({ field }) => [field, before?.[field] ?? ''] as const);
    const set = schedule && { ...setIn(schedule), ...Object.fromEntries(ofPerson) };
    const left = options.drift === 'report' ? found.filter((one) => !drifted.includes(one)) : found;
    const isBad = (site: RunSite) =>
      decision.is === 'hold' ||
      decisions.suspects.some((bad) =>
        site.took.some((one) => one.item === bad.item && one.version === bad.version),
      );
    const waiting = (runs[i] ?? []).filter(
      ({ status, sites }) => status === 'initializing' && sites.some(isBad),
    );
    return {
      ...ring,
      schedule,
      others,
      desired,
      differences: left,
      drifted: drifted.map(({ field, from, to }) => `${field} is ${cut(from)}, not ${cut(to)}`),
      toRecord:
        schedule && set && (records[i]?.at === undefined || JSON.stringify(before) !== JSON.stringify(set))
          ? { id: schedule.id, set, at: now }
          : undefined,
      runs: runs[i] ?? [],
      cancel: i === 0 && !decision.byPerson ? [] : waiting.map(({ task }) => task),
    };
  });
  const urls = new Map([...sites].map(([id, { url }]) => [id, url]));
  const ownership = new Map(
    own.flatMap(({ schedule }, i) => (schedule ? [[schedule.id, rules[i]?.name ?? ''] as const] : [])),
  );
  const bypassing = alsoUpdating(marked, ownership, new Set(members.flat().map(({ id }) => id)));
  return { ...decisions, ringsOf, unwell, bypassing, left, urls, ownership, now, zone };
}

/** Oldest first. A list that changes while it is read shows a run twice, and not in its order. */
function inOrder(entries: readonly Entry[]): Entry[] {
  const byTask = new Map(entries.map((one) => [taskOf(one), one]));
  return [...byTask.values()].sort((a, b) => (a.performed_on ?? '').localeCompare(b.performed_on ?? ''));
}

/** What a schedule named in a run: what it names now, if that was set before the run. */
function namedIn(
  { auto_update_schedule: of, performed_on = '' }: Entry,
  schedule: Schedule | undefined,
  record: RingRecord | undefined,
  drift: Options['drift'],
): Updates | undefined {
  if (!schedule || of?.id !== schedule.id || record?.at === undefined) return undefined;
  const isOurs = drift === 'report' || setIn(schedule)['updates'] === record.set['updates'];
  return isOurs && Date.parse(performed_on) >= record.at ? updatesIn(schedule) : undefined;
}

const NOT_PLANNED = 'What it may get is not what was planned: the next run decides.';

/** A ring may name hundreds of plugins. */
const cut = (text: string): string => (text.length > 150 ? `${text.slice(0, 150)}…` : text);

const versionsOf = (released: RingDecisions['released']): [string, string][] =>
  Object.entries(released).map(([item, { version }]) => [item, version]);

const holdText = ({ by, at, reason }: RingDecisions['holds'][string]): string =>
  `${by} holds it since ${isoMinute(at)}${reason ? `: ${reason.replace(/\.$/, '')}` : ''}.`;

async function scheduleOf(api: Api, auto_update_schedule_id: string): Promise<Schedule[]> {
  try {
    return [(await api.showAutoUpdateSchedule({ auto_update_schedule_id })).auto_update_schedule];
  } catch (error) {
    if (!problemWith(error).gone) throw error;
    return [];
  }
}

async function entriesOf(all: JobApi['all'], from: number): Promise<Entry[]> {
  const entries: Entry[] = [];
  const filters = { performed_on: { gte: isoTime(from) } };
  for await (const entry of all('listAutoUpdateHistory', { filters })) entries.push(entry);
  return entries;
}
