/**
 * What is to be done about the scheduled times of a policy that have come: a decision without clock, records
 * or engine.
 *
 * The cursor is the scheduled time up to which a policy's scheduled times have been dealt with. It never
 * passes one whose firing is still ahead because of its jitter.
 */
import type { Schedule } from '../policy/policy.ts';
import {
  type CronSchedule,
  dueAt,
  MAX_SCHEDULED_TIMES,
  nextScheduledTimes,
  previousScheduledTime,
} from './calendar.ts';
import { type SkipCause, type SkipFacts, skipCauseOf } from './skip-cause.ts';

/** A firing that is late by no more than this is on time: a tick was late, or another daemon took over. */
export const ON_TIME_MS = 90_000;

/** An edited schedule has been active since it was read: a tick and a reload ago at the earliest. */
const NOTICED_WITHIN_MS = 10_000;

export type Decision =
  /** `inTurn`: only once no other run of the policy is under way, and nothing after it before. */
  | { is: 'fire'; moment: number; trigger: 'schedule' | 'catch-up'; inTurn?: true }
  | ({ is: 'skip'; moment: number } & SkipCause)
  | { is: 'missed'; moment: number }
  /** It is caught up by one run for several, that of the scheduled time `into`. */
  | { is: 'merged'; moment: number; into: number };

export interface Due {
  /** One for each scheduled time that has come, oldest first; of very many, the oldest. */
  decisions: Decision[];
  /** Where the cursor belongs once the decisions have been carried out. */
  cursor: number;
  /** Nothing is due before; nothing at all when missing. */
  nextDueAt?: number;
}

export interface ScheduleState extends SkipFacts {
  /** Missing for a policy that is seen for the first time: it starts now, and nothing is caught up. */
  cursor?: number | undefined;
  now: number;
  /** Scheduled times from here on are within `catchup`, however long ago they are by now. */
  owedFrom?: number | undefined;
}

/**
 * Decides about every scheduled time between the cursor and now.
 *
 * A scheduled time fires when it is due or late by no more than 90 s. Later, but within `catchup`, the latest
 * fires for all that were missed, unless one that is on time does; or each fires in its turn. A skip cause of
 * the policy skips them.
 */
export function whatIsDue(policyName: string, schedule: Schedule, standing: ScheduleState): Due {
  const { cursor: known, now } = standing;
  const start = known ?? now;
  // Two are enough as a rule: what is due, and what is next.
  let moments = nextScheduledTimes(schedule, start, 2);
  if (isPast(moments.at(-1), now)) moments = nextScheduledTimes(schedule, start, MAX_AT_ONCE);
  const several = moments.length === MAX_AT_ONCE && isPast(moments.at(-1), now);
  const decide = (moment: number, following?: number): Decision | undefined => {
    const at = dueAt(policyName, schedule, moment, following);
    return at > now ? undefined : judge(schedule, standing, moment, at);
  };
  const judged = moments.flatMap((moment, index) =>
    moment > now ? [] : (decide(moment, moments[index + 1]) ?? []),
  );
  const decisions = schedule.catchesAll
    ? inTurn(judged, standing.owedFrom !== undefined)
    : merged(schedule, judged, several ? lastFiring(schedule, start, now, decide) : undefined);
  // Jitter keeps the order of scheduled times, so the first of those left is due next.
  const [next, following] = moments.slice(decisions.length);
  const nextDueAt = several ? now : next && dueAt(policyName, schedule, next, following);
  return {
    decisions,
    cursor: decisions.at(-1)?.moment ?? start,
    ...(nextDueAt === undefined ? {} : { nextDueAt }),
  };
}

/** Of a long standstill, so many scheduled times are decided together; some tens of milliseconds. */
const MAX_AT_ONCE = 500;

const isPast = (moment: number | undefined, now: number): boolean => moment !== undefined && moment <= now;

/** The latest scheduled time that fires, looked for from now backwards. */
function lastFiring(
  schedule: Schedule,
  start: number,
  now: number,
  decide: (moment: number) => Decision | undefined,
): number | undefined {
  let moment = previousScheduledTime(schedule, now + 1);
  for (let tries = 0; tries < MAX_SCHEDULED_TIMES && moment !== undefined && moment > start; tries += 1) {
    const is = decide(moment)?.is;
    if (is === 'fire') return moment;
    if (is === 'missed') return undefined;
    moment = previousScheduledTime(schedule, moment);
  }
  return undefined;
}

function judge(schedule: Schedule, standing: ScheduleState, moment: number, at: number): Decision {
  const { now, owedFrom = now } = standing;
  const late = now - at;
  const onTime = late <= ON_TIME_MS;
  const skipCause = skipCauseOf(schedule, standing, { moment, dueAt: at });
  if (skipCause) return { is: 'skip', moment, ...skipCause };
  if (!onTime && at < Math.min(now - schedule.catchupMs, owedFrom)) return { is: 'missed', moment };
  const since = skipCauseOf(schedule, standing, { moment, dueAt: at, now });
  if (since) return { is: 'skip', moment, ...since };
  const trigger = onTime ? 'schedule' : 'catch-up';
  return { is: 'fire', moment, trigger, ...(schedule.catchesAll && !onTime ? { inTurn: true } : {}) };
}

/**
 * Of several that fire together, each waits for its turn; so do those behind a backlog that is caught up in
 * turn.
 */
function inTurn(decisions: readonly Decision[], owed: boolean): Decision[] {
  let waits = owed || decisions.filter(({ is }) => is === 'fire').length > 1;
  return decisions.map((one) => {
    if (one.is !== 'fire') return one;
    waits ||= one.inTurn === true;
    return waits ? { ...one, inTurn: true } : one;
  });
}

/**
 * Leaves of several firings the latest: one run makes up for them all. Two that are both on time are both
 * made only where `overlap` lets both run; otherwise the run of the earlier would have the later skipped.
 */
function merged(
  { overlap }: Schedule,
  decisions: readonly Decision[],
  later: number | undefined,
): Decision[] {
  const last = later ?? decisions.findLast(({ is }) => is === 'fire')?.moment;
  const bothRun = overlap === 'allow' || overlap === 'queue-all';
  return decisions.map((one) =>
    last !== undefined && one.is === 'fire' && one.moment !== last && !(bothRun && one.trigger === 'schedule')
      ? { is: 'merged', moment: one.moment, into: last }
      : one,
  );
}

/** The words by which one schedule's scheduled times are told from another's; kept beside the cursor. */
export const formatTimes = ({ timezone, cron, dst }: CronSchedule): string =>
  `${timezone} ${cron.join(' | ')}${dst ? ` ${dst.gap} ${dst.overlap}` : ''}`;

/**
 * Where to go on. A cursor of other crons or another time zone counts only from the time the edit can have
 * been active: scheduled times that a schedule would have had before it was written are not missed.
 */
export function cursorFor(
  schedule: CronSchedule,
  { cursor, moments }: { cursor?: number; moments?: string },
  now: number,
): number | undefined {
  if (cursor === undefined || moments === undefined || moments === formatTimes(schedule)) return cursor;
  return Math.max(cursor, now - NOTICED_WITHIN_MS);
}
