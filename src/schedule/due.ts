/**
 * What to do about the scheduled times of a policy that are due: a decision without clock, records or engine.
 *
 * The cursor is the scheduled time up to which all scheduled times of a policy have been processed. It never
 * passes one that is not due yet because of its jitter.
 */
import type { Schedule } from '../policy/policy.ts';
import type { PolicyState } from '../records/policy-store.ts';
import {
  type CronSchedule,
  dueAt,
  MAX_SCHEDULED_TIMES,
  nextScheduledTimes,
  previousScheduledTime,
} from './cron-times.ts';
import { type SkipCause, type SkipFacts, skipCauseOf } from './skip-cause.ts';

/** A firing that is at most so late is on time: a tick was late, or another daemon took over. */
export const ON_TIME_MS = 90_000;

/** An edited schedule is noticed within this time: one reload, when it is unchanged, and one tick. */
export const NOTICED_WITHIN_MS = 15_000;

export type Decision =
  /** `inTurn`: starts only when no other run of the policy is active, and later ones wait for it. */
  | ({ is: 'fire'; trigger: 'schedule' | 'catch-up' | 'after'; inTurn?: true } & DecidedTime)
  | ({ is: 'skip' } & DecidedTime & SkipCause)
  | ({ is: 'missed' } & DecidedTime)
  /** The run of the scheduled time `into` serves for this one, too. */
  | { is: 'merged'; scheduledFor: number; into: number };

interface DecidedTime {
  scheduledFor: number;
  /** The run whose end this time is, of a policy that follows another. */
  afterRun?: string;
}

export interface Due {
  /** One for each scheduled time that is due, oldest first; of very many, the oldest. */
  decisions: Decision[];
  /** The cursor after the decisions have been carried out. */
  cursor: number;
  /** When the next scheduled time is due; absent when there is none. */
  nextDueAt?: number;
}

export interface ScheduleState extends SkipFacts {
  /** Absent for a new policy: it starts now, and nothing is caught up. */
  cursor?: number | undefined;
  now: number;
  /** Scheduled times from here on count as within `catchup`, however late they are now. */
  owedFrom?: number | undefined;
}

/**
 * Decides about every scheduled time between the cursor and now.
 *
 * A scheduled time fires when it is due, at most 90 s late. Of those that are later, but within `catchup`,
 * the latest fires for all, unless one is on time; or each fires in turn. A skip cause of the policy skips
 * them.
 */
export function whatIsDue(policyName: string, schedule: Schedule, state: ScheduleState): Due {
  const { cursor: known, now } = state;
  const start = known ?? now;
  // Two are usually enough: the one that is due, and the next.
  let times = nextScheduledTimes(schedule, start, 2);
  if (isPast(times.at(-1), now)) times = nextScheduledTimes(schedule, start, MAX_AT_ONCE);
  const isBacklog = times.length === MAX_AT_ONCE && isPast(times.at(-1), now);
  const decide = (scheduledFor: number, following?: number): Decision | undefined => {
    const at = dueAt(policyName, schedule, scheduledFor, following);
    return at > now ? undefined : evaluate({ schedule, state, scheduledFor, dueAt: at });
  };
  const evaluated = times.flatMap((scheduledFor, index) =>
    scheduledFor > now ? [] : (decide(scheduledFor, times[index + 1]) ?? []),
  );
  const decisions = schedule.catchesAll
    ? inTurn(evaluated, state.owedFrom !== undefined)
    : merged(schedule, evaluated, isBacklog ? lastFiring(schedule, start, now, decide) : undefined);
  // Jitter keeps the order of scheduled times, so the first that remains is due next.
  const [next, following] = times.slice(decisions.length);
  const nextDueAt = isBacklog ? now : next && dueAt(policyName, schedule, next, following);
  return {
    decisions,
    cursor: decisions.at(-1)?.scheduledFor ?? start,
    ...(nextDueAt === undefined ? {} : { nextDueAt }),
  };
}

/**
 * After a long downtime, this many scheduled times are decided together. It takes some tens of milliseconds.
 */
const MAX_AT_ONCE = 500;

const isPast = (scheduledFor: number | undefined, now: number): boolean =>
  scheduledFor !== undefined && scheduledFor <= now;

/** The latest scheduled time that fires, searched from now backwards. */
function lastFiring(
  schedule: Schedule,
  start: number,
  now: number,
  decide: (scheduledFor: number) => Decision | undefined,
): number | undefined {
  let scheduledFor = previousScheduledTime(schedule, now + 1);
  for (
    let tries = 0;
    tries < MAX_SCHEDULED_TIMES && scheduledFor !== undefined && scheduledFor > start;
    tries += 1
  ) {
    const is = decide(scheduledFor)?.is;
    if (is === 'fire') return scheduledFor;
    if (is === 'missed') return undefined;
    scheduledFor = previousScheduledTime(schedule, scheduledFor);
  }
  return undefined;
}

interface DueTime {
  schedule: Schedule;
  state: ScheduleState;
  scheduledFor: number;
  dueAt: number;
}

function evaluate({ schedule, state, scheduledFor, dueAt }: DueTime): Decision {
  const { now, owedFrom = now } = state;
  const onTime = now - dueAt <= ON_TIME_MS;
  const skipCause = skipCauseOf(schedule, state, { scheduledFor, dueAt });
  if (skipCause) return { is: 'skip', scheduledFor, ...skipCause };
  if (!onTime && dueAt < Math.min(now - schedule.catchupMs, owedFrom)) return { is: 'missed', scheduledFor };
  const causeNow = skipCauseOf(schedule, state, { scheduledFor, dueAt, now });
  if (causeNow) return { is: 'skip', scheduledFor, ...causeNow };
  const trigger = onTime ? 'schedule' : 'catch-up';
  return { is: 'fire', scheduledFor, trigger, ...(schedule.catchesAll && !onTime ? { inTurn: true } : {}) };
}

/** Several that fire together run in turn; so do those after a backlog that is caught up in turn. */
function inTurn(decisions: readonly Decision[], owed: boolean): Decision[] {
  let waits = owed || decisions.filter(({ is }) => is === 'fire').length > 1;
  return decisions.map((one) => {
    if (one.is !== 'fire') return one;
    waits ||= one.inTurn === true;
    return waits ? { ...one, inTurn: true } : one;
  });
}

/**
 * Merges several firings into the latest: one run serves for all of them. Two that are both on time both fire
 * only if `overlap` lets both run; otherwise the run of the earlier would cause the later to be skipped.
 */
function merged(
  { overlap }: Schedule,
  decisions: readonly Decision[],
  later: number | undefined,
): Decision[] {
  const last = later ?? decisions.findLast(({ is }) => is === 'fire')?.scheduledFor;
  const bothRun = overlap === 'allow' || overlap === 'queue-all';
  return decisions.map((one) =>
    last !== undefined &&
    one.is === 'fire' &&
    one.scheduledFor !== last &&
    !(bothRun && one.trigger === 'schedule')
      ? { is: 'merged', scheduledFor: one.scheduledFor, into: last }
      : one,
  );
}

type TimesSchedule = CronSchedule & Pick<Schedule, 'after'>;

/** Moved times depend on the days of the blackout. */
const movesKey = ({ onBlackout, blackout }: TimesSchedule): string =>
  onBlackout === undefined ? '' : ` ${onBlackout} ${JSON.stringify(blackout)}`;

/** Differs for schedules with different scheduled times; stored beside the cursor. */
export const timesKey = (schedule: TimesSchedule): string => {
  const { timezone, cron, dst, after } = schedule;
  if (after) return `after ${after.policy}`;
  return `${timezone} ${cron.join(' | ')}${dst ? ` ${dst.gap} ${dst.overlap}` : ''}${movesKey(schedule)}`;
};

/**
 * The cursor to continue from. After an edit of crons or time zone, it is the earliest time at which the edit
 * can have been active: the new schedule misses none of the times before.
 */
export function cursorFor(
  schedule: TimesSchedule,
  { cursor, cursorSchedule }: Pick<PolicyState, 'cursor' | 'cursorSchedule'>,
  now: number,
): number | undefined {
  if (cursor === undefined || cursorSchedule === undefined || cursorSchedule === timesKey(schedule))
    return cursor;
  return Math.max(cursor, now - NOTICED_WITHIN_MS);
}
