/**
 * Why a policy fired or did not: one sentence for any scheduled time, past or future. The past is read from
 * the ledger; the future is computed by the code that fires.
 */
import { isoTime } from '../clock.ts';
import { formatAfter } from '../policy/chains.ts';
import { type After, Policy, type Schedule } from '../policy/policy.ts';
import { keys } from '../records/keys.ts';
import type { ScheduledTime } from '../records/ledger-store.ts';
import { parseRecord } from '../records/parse-record.ts';
import type { PolicyState } from '../records/policy-store.ts';
import type { Records } from '../records/records.ts';
import type { Run } from '../run/run.ts';
import { formatDuration } from '../yaml/duration.ts';
import { type PredecessorEnd, predecessorEnds, whyNotFollowed } from './chain.ts';
import {
  dueAt,
  type MovedTime,
  movedTimesBetween,
  nextScheduledTimes,
  previousScheduledTime,
  scheduledTimesBetween,
  timesMovedHere,
} from './cron-times.ts';
import {
  blackoutOn,
  DISABLED,
  formatBlackout,
  formatSkipCause,
  type SkipCause,
  skipCauseOf,
} from './skip-cause.ts';
import { type Span, wallTime } from './wall-time.ts';

/** One scheduled time explained, as `caretaker why --json` prints it. */
export interface Explained {
  scheduled_for: string;
  /** In the policy's time zone. */
  wall_time: string;
  /**
   * `not-followed`: a run of the policy that it follows ended, and starts none. `moved`: the schedule has
   * another time in place of it, because it is on a day of blackout.
   */
  is: ScheduledTime['is'] | 'upcoming' | 'due' | 'not-followed' | 'moved' | 'unknown';
  why: ScheduledTime['why'] | null;
  run: string | null;
  run_status: Run['status'] | null;
  backfill: string | null;
  /** The run whose end it is, of a policy that follows another; left out for any other. */
  after_run?: string;
  /** When it fires or would have fired: the scheduled time and its jitter. */
  fires_at: string;
  /** The times on days of blackout that were moved to it (`on_blackout`); left out when there are none. */
  moved_from?: string[];
  /** The scheduled time that it was moved to; left out for any other. */
  moved_to?: string;
  decided_at: string | null;
  sentence: string;
}

export interface Explanation {
  policy: string;
  timezone: string | null;
  scheduled_times: Explained[];
  /** When nothing is scheduled: the scheduled times before and after. */
  around: Explained[];
  /** The same in words, one line each. */
  sentences: string[];
}

/** The records that are read; absent when nothing was ever recorded. */
export type Known = Pick<Records, 'ledger' | 'ends' | 'runs' | 'policies' | 'presence'>;

/** More than a day of a policy that runs every minute. */
const MAX_SCHEDULED_TIMES_SHOWN = 2_000;

/** Explains what a policy does in the spans of time given. Costs no request to the service. */
export async function explain(
  records: Known | undefined,
  policy: Policy,
  spans: readonly Span[],
  now: number,
): Promise<Explanation> {
  const { name, schedule } = policy;
  const empty = { policy: name, timezone: schedule?.timezone ?? null, scheduled_times: [], around: [] };
  const stored = records ? await recordsOf(records, name, spans) : [];
  if (!schedule && stored.length === 0)
    return { ...empty, sentences: [`${name} has no schedule: it has manual runs only.`] };
  const ends = await endsOf(records, policy, spans);
  const view = { ...(await viewOf(records, policy, now)), ends: new Map(ends.map((end) => [end.at, end])) };
  const named = schedule
    ? spans.flatMap(({ from, to }) => scheduledTimesBetween(schedule, from - 1, to))
    : [];
  const moved = schedule ? spans.flatMap(({ from, to }) => movedTimesBetween(schedule, from, to)) : [];
  const movedOn = new Map(moved.map((time) => [time.from, time.to]));
  const known = new Map(stored.map((record) => [record.scheduledFor, record]));
  const all = [...new Set([...known.keys(), ...named, ...view.ends.keys(), ...movedOn.keys()])].sort(
    (a, b) => a - b,
  );
  const explainAll = (some: readonly number[]) =>
    Promise.all(
      some.map((scheduledFor) => {
        const to = movedOn.get(scheduledFor);
        const isMoved =
          schedule && to !== undefined && !known.has(scheduledFor) && !named.includes(scheduledFor);
        return isMoved
          ? explainMoved(name, schedule, { from: scheduledFor, to })
          : explainOne(view, scheduledFor, known.get(scheduledFor));
      }),
    );
  if (all.length > 0 || !schedule) {
    const explained = await explainAll(all);
    return {
      ...empty,
      scheduled_times: explained,
      sentences: joinEqual(explained, name, schedule?.timezone ?? 'UTC'),
    };
  }
  if (schedule.after) return { ...empty, sentences: [formatNoEnd(name, schedule.after)] };
  const [first, last] = [spans[0]?.from ?? now, spans.at(-1)?.to ?? now];
  const neighbours = [
    previousScheduledTime(schedule, first),
    nextScheduledTimes(schedule, last, 1)[0],
  ].flatMap((scheduledFor) => scheduledFor ?? []);
  for (const scheduledFor of neighbours)
    for (const record of await (records?.ledger.between(name, scheduledFor, scheduledFor, 1) ?? []))
      known.set(scheduledFor, record);
  const around = await explainAll(neighbours);
  const cron = schedule.cron.map((one) => `"${one}"`).join(' and ');
  return {
    ...empty,
    around,
    sentences: [
      `${name} is not due then: ${cron} (${schedule.timezone}) names no such time. ${
        around.length > 0 ? 'The scheduled times around it are:' : 'It names no other either.'
      }`,
      ...around.map(({ sentence }) => `  ${sentence}`),
    ],
  };
}

/** A line for each scheduled time; successive ones with the same text share one. */
function joinEqual(scheduledTimes: readonly Explained[], name: string, zone: string): string[] {
  const rows: { text: string; first: Explained; last: Explained; count: number }[] = [];
  for (const one of scheduledTimes) {
    const text = one.sentence.slice(`${name} ${one.wall_time} ${zone}`.length);
    const row = rows.at(-1);
    if (row?.text === text) Object.assign(row, { last: one, count: row.count + 1 });
    else rows.push({ text, first: one, last: one, count: 1 });
  }
  return rows.map(({ text, first, last, count }) =>
    count === 1
      ? first.sentence
      : `${name} ${first.wall_time} to ${last.wall_time} ${zone}, ${count} scheduled times, each${text}`,
  );
}

async function recordsOf({ ledger }: Known, name: string, spans: readonly Span[]): Promise<ScheduledTime[]> {
  return (
    await Promise.all(spans.map(({ from, to }) => ledger.between(name, from, to, MAX_SCHEDULED_TIMES_SHOWN)))
  ).flat();
}

/** At most this many ends are looked at. */
const MAX_ENDS = 500;

/** The ends of the runs of the policy that this one follows. */
async function endsOf(
  records: Known | undefined,
  { schedule }: Policy,
  spans: readonly Span[],
): Promise<PredecessorEnd[]> {
  if (!records || !schedule?.after) return [];
  const { policy } = schedule.after;
  const found = await Promise.all(
    spans.map(({ from, to }) => records.ends.between(policy, from - 1, to, MAX_ENDS)),
  );
  return predecessorEnds(records, found.flat());
}

const formatNoEnd = (name: string, after: After): string =>
  `${name} is not due then: it runs ${formatAfter(after)}, of which no run ended at that time.`;

/** What is read in addition to the ledger. */
interface View {
  policy: Policy;
  state: PolicyState;
  now: number;
  runOf: (id: string) => Promise<Run | undefined>;
  recordOf: (scheduledFor: number) => Promise<ScheduledTime | undefined>;
  hasScheduler: boolean;
  /** Ends of the runs of the policy that this one follows, by their times. */
  ends: ReadonlyMap<number, PredecessorEnd>;
}

async function viewOf(records: Known | undefined, policy: Policy, now: number): Promise<Omit<View, 'ends'>> {
  const [state, here] = records
    ? await Promise.all([records.policies.state(policy), records.presence.running(now)])
    : [{ failures: 0 }, []];
  return {
    policy,
    state,
    now,
    runOf: async (id) => records?.runs.get(id),
    recordOf: async (scheduledFor) =>
      (await records?.ledger.between(policy.name, scheduledFor, scheduledFor, 1))?.[0],
    hasScheduler: here.some(({ roles }) => roles.includes('scheduler')),
  };
}

/** A time that the schedule moves to another day. */
function explainMoved(name: string, schedule: Schedule, { from, to }: MovedTime): Explained {
  const { timezone } = schedule;
  const wall = wallTime(from, timezone);
  const blackout = blackoutOn(schedule, from);
  const why = blackout ? ` (blackout: ${formatBlackout(blackout)})` : '';
  return {
    scheduled_for: isoTime(from),
    wall_time: wall,
    is: 'moved',
    why: null,
    run: null,
    run_status: null,
    backfill: null,
    fires_at: isoTime(dueAt(name, schedule, to)),
    moved_to: isoTime(to),
    decided_at: null,
    sentence: `${name} ${wall} ${timezone}: is moved to ${wallTime(to, timezone)}${why}.`,
  };
}

const scheduleOf = ({ id, policyJson }: Run): Schedule | undefined =>
  parseRecord(Policy, policyJson, keys.run(id)).schedule;

/** `It is moved from Fri 2026-12-25 02:00.` */
function formatOrigins(origins: readonly number[], zone: string): string {
  if (origins.length === 0) return '';
  return ` It is moved from ${origins.map((origin) => wallTime(origin, zone)).join(' and ')}.`;
}

async function explainOne(view: View, scheduledFor: number, record?: ScheduledTime): Promise<Explained> {
  const { schedule, name } = view.policy;
  const zone = schedule?.timezone ?? 'UTC';
  const at = schedule ? dueAt(name, schedule, scheduledFor) : scheduledFor;
  const wall = wallTime(scheduledFor, zone);
  const begin = `${name} ${wall} ${zone}`;
  const [run, backfill] = await Promise.all(
    [record?.run, record?.backfill].map((id) => (id === undefined ? undefined : view.runOf(id))),
  );
  const afterRun = record?.after ?? view.ends.get(scheduledFor)?.run;
  // The run has the schedule as it was.
  const schedules = run ? (scheduleOf(run) ?? schedule) : schedule;
  const origins = schedules ? timesMovedHere(schedules, scheduledFor) : [];
  const moved = formatOrigins(origins, zone);
  const rest = {
    ...(origins.length > 0 ? { moved_from: origins.map(isoTime) } : {}),
    ...(afterRun === undefined ? {} : { after_run: afterRun }),
    scheduled_for: isoTime(scheduledFor),
    wall_time: wall,
    run: record?.run ?? null,
    run_status: run?.status ?? null,
    backfill: record?.backfill ?? null,
    fires_at: isoTime(at),
    decided_at: record ? isoTime(record.at) : null,
  };
  if (record) {
    const made = record.backfill ? ` It was backfilled: ${formatRun(record.backfill, backfill)}.` : '';
    const followed = record.after === undefined ? '' : ` It follows ${record.after}, which ended then.`;
    const sentence = `${begin}: ${await formatPast(view, record, run, zone)}.${moved}${followed}${made}`;
    return { ...rest, is: record.is, why: record.why ?? null, sentence };
  }
  const { text, ...said } = explainUnrecorded(view, scheduledFor, at);
  return { ...rest, ...said, sentence: `${begin}: ${text}.${moved}` };
}

/** A scheduled time without a record: it is still to come, was not recorded, or starts no run. */
function explainUnrecorded(
  view: View,
  scheduledFor: number,
  at: number,
): Pick<Explained, 'is' | 'why'> & { text: string } {
  const { schedule } = view.policy;
  if (!schedule) return { is: 'unknown', why: null, text: 'there is no record' };
  const end = view.ends.get(scheduledFor);
  const reason = end && schedule.after && whyNotFollowed(schedule.after, end);
  if (end && reason !== undefined)
    return { is: 'not-followed', why: null, text: `${end.run} ended then and starts no run: ${reason}` };
  if (at > view.now) {
    const skipCause = skipCauseOf(schedule, view.state, { scheduledFor, dueAt: at });
    const text = formatUpcoming(scheduledFor, at, schedule.timezone, skipCause);
    return { is: 'upcoming', why: skipCause?.why ?? null, text };
  }
  const is = scheduledFor > (view.state.cursor ?? view.now) ? 'due' : 'unknown';
  return { is, why: null, text: formatUnrecorded(view, schedule, scheduledFor) };
}

async function formatPast(
  view: View,
  record: ScheduledTime,
  run: Run | undefined,
  zone: string,
): Promise<string> {
  switch (record.is) {
    case 'ran': {
      const late = record.at - record.scheduledFor;
      const how = run?.trigger === 'catch-up' ? `, caught up ${formatDuration(late)} late` : '';
      const backfilled = run?.trigger === 'backfill' ? ', as a backfill' : '';
      return `ran at ${wallTime(record.at, zone)}${how}${backfilled}: ${formatRun(record.run ?? '', run)}`;
    }
    case 'skipped':
      if (record.why === 'overlap')
        return `was skipped. ${(record.note ?? 'Another run was under way.').replace(/\.$/, '')}`;
      return `was skipped: ${formatSkipCause({ why: record.why ?? 'paused', ...(record.note ? { note: record.note } : {}) })}`;
    case 'missed':
      return `was missed. No daemon could fire it before ${wallTime(record.at, zone)}, which was later than its ${record.after === undefined ? 'catchup' : '"within"'} allows`;
    case 'merged': {
      const into = record.into ?? record.scheduledFor;
      const heir = await view.recordOf(into);
      const by = heir?.run ? ` (${formatRun(heir.run, await view.runOf(heir.run))})` : '';
      return `was missed, and caught up by the run of ${wallTime(into, zone)}${by}`;
    }
  }
}

const formatRun = (id: string, run: Run | undefined): string => {
  if (!run) return `${id}, which is no longer stored`;
  const { succeeded, failed, skipped, cancelled } = run.counts;
  const counts = Object.entries({ succeeded, failed, skipped, cancelled })
    .filter(([, count]) => count > 0)
    .map(([outcome, count]) => `${count} ${outcome}`);
  return `${id}, ${run.status}${counts.length > 0 ? ` (${counts.join(', ')})` : ''}`;
};

function formatUpcoming(scheduledFor: number, at: number, zone: string, skipCause?: SkipCause): string {
  if (skipCause) return `will be skipped unless this changes: ${formatSkipCause(skipCause)}`;
  if (at === scheduledFor) return 'will fire on the minute';
  return `will fire at ${wallTime(at, zone).split(' ')[2]}, ${formatDuration(at - scheduledFor)} of jitter after its scheduled time`;
}

function formatUnrecorded({ state, hasScheduler }: View, schedule: Schedule, scheduledFor: number): string {
  if (scheduledFor > (state.cursor ?? Number.POSITIVE_INFINITY)) {
    return hasScheduler
      ? 'is due, and the scheduler decides about it within seconds'
      : 'is due, but no daemon with the role scheduler is active; "caretaker daemon" starts one';
  }
  if (state.cursor === undefined) return 'has no record: no daemon has scheduled this policy yet';
  if (state.since !== undefined && scheduledFor <= state.since)
    return `has no record: this schedule is ${schedule.disabled ? `${formatSkipCause(DISABLED)}, and known` : 'active'} since ${wallTime(state.since, schedule.timezone)}`;
  return 'has no record: it is older than what is kept (retention.runs)';
}
