/**
 * What is to be done about the moments of a policy that have come: a decision without clock, records or engine.
 *
 * The cursor is the moment up to which a policy's moments have been dealt with. It never passes one whose firing is
 * still ahead because of its jitter.
 */
import type { Schedule } from '../policy/policy.ts';
import { blackoutOn, dueAt, type Moments, momentsBetween, nextMoments } from './calendar.ts';

/** A firing that is late by no more than this is on time: a tick was late, or another daemon took over. */
export const ON_TIME_MS = 90_000;

/** An edited schedule has been in force since it was read: a tick and a reload ago at the earliest. */
const NOTICED_WITHIN_MS = 10_000;

/** Why a moment makes no run of its own. */
export type SkipReason = 'paused' | 'blackout' | 'missed' | 'merged';

export type Decision =
  | { is: 'fire'; moment: number; trigger: 'schedule' | 'catch-up' }
  | { is: 'skip'; moment: number; why: SkipReason };

export interface Due {
  /** One for each moment that has come, oldest first; of very many, the newest. */
  decisions: Decision[];
  /** Where the cursor belongs once the decisions have been carried out. */
  cursor: number;
  /** Nothing is due before; nothing at all when missing. */
  nextDueAt?: number;
}

export interface Standing {
  /** Missing for a policy that is seen for the first time: it starts now, and nothing is caught up. */
  cursor?: number | undefined;
  now: number;
  /** Firings due before this are left out: infinity for a pause without an end. Missing when it was never paused. */
  pausedUntil?: number | undefined;
}

/**
 * Decides about every moment between the cursor and now.
 *
 * A moment fires when it is due or late by no more than 90 s; later, as one catch-up run for all that were missed
 * within `catchup`: the latest of them, or a firing that is on time. A paused policy and a blackout leave it out.
 */
export function whatIsDue(
  policyName: string,
  schedule: Schedule,
  { cursor: known, now, pausedUntil }: Standing,
): Due {
  const start = known ?? now;
  const moments = momentsBetween(schedule, start, now);
  const firings = moments.map((moment, index) => ({
    moment,
    at: dueAt(policyName, schedule, moment, moments[index + 1]),
  }));
  // Jitter keeps the order of moments, so only the last one can still be ahead.
  const ahead = firings.find(({ at }) => at > now);
  const judged = firings
    .filter(({ at }) => at <= now)
    .map(({ moment, at }) =>
      judge(schedule, moment, now - at, pausedUntil !== undefined && at < pausedUntil),
    );
  const nextDueAt = ahead?.at ?? nextAfter(policyName, schedule, now);
  return {
    decisions: merged(judged),
    cursor: judged.at(-1)?.moment ?? start,
    ...(nextDueAt === undefined ? {} : { nextDueAt }),
  };
}

function judge(schedule: Schedule, moment: number, lateMs: number, paused: boolean): Decision {
  if (paused) return { is: 'skip', moment, why: 'paused' };
  if (blackoutOn(schedule, moment)) return { is: 'skip', moment, why: 'blackout' };
  if (lateMs <= ON_TIME_MS) return { is: 'fire', moment, trigger: 'schedule' };
  if (lateMs <= schedule.catchupMs) return { is: 'fire', moment, trigger: 'catch-up' };
  return { is: 'skip', moment, why: 'missed' };
}

/** Leaves of several catch-ups the latest, and none beside a firing that is on time: one run makes up for them all. */
function merged(decisions: Decision[]): Decision[] {
  const last = decisions.findLast(({ is }) => is === 'fire');
  return decisions.map((one) =>
    one.is === 'fire' && one.trigger === 'catch-up' && one !== last
      ? { is: 'skip', moment: one.moment, why: 'merged' }
      : one,
  );
}

function nextAfter(policyName: string, schedule: Schedule, now: number): number | undefined {
  const [next, following] = nextMoments(schedule, now, 2);
  return next === undefined ? undefined : dueAt(policyName, schedule, next, following);
}

/** The words by which one schedule's moments are told from another's; kept beside the cursor. */
export const nameOfMoments = ({ timezone, cron, dst }: Moments): string =>
  `${timezone} ${cron.join(' | ')}${dst ? ` ${dst.gap} ${dst.overlap}` : ''}`;

/**
 * Where to go on. A cursor of other crons or another time zone counts only from the time the edit can have been in
 * force: moments that a schedule would have had before it was written are not missed.
 */
export function cursorFor(
  schedule: Moments,
  { cursor, moments }: { cursor?: number; moments?: string },
  now: number,
): number | undefined {
  if (cursor === undefined || moments === undefined || moments === nameOfMoments(schedule)) return cursor;
  return Math.max(cursor, now - NOTICED_WITHIN_MS);
}
