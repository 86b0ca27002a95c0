/**
 * Which moments a schedule names, by croner; pure, and the same for whoever asks.
 *
 * A moment is nominal: what the expression says, in milliseconds since 1970. Jitter puts the firing a little later and
 * never as late as the next moment, so that the firings of a policy keep the order of their moments.
 *
 * When clocks change, an expression that names its hours (`30 2 * * *`, `0 1-4 * * *`) fires once for an hour that is
 * skipped, at the first moment after it, and once for one that comes twice, the first time. One that counts on
 * (every minute, every second hour) goes on counting in real time. A day of month and a day of week together both have to hold, as
 * node-cron reads them.
 */
import { createHash } from 'node:crypto';
import { Cron } from 'croner';
import type { Schedule } from '../policy/policy.ts';

/** What decides which moments a schedule has. */
export type Moments = Pick<Schedule, 'cron' | 'timezone'>;

/** So many moments are looked at together at most: a week of every five minutes, five years of every day. */
export const MOST_MOMENTS = 2_000;

/**
 * The moments after `after` and not after `until`, oldest first; a moment that several expressions name is one.
 *
 * Gives the newest `MOST_MOMENTS` when there are more. Costs some 0.1 ms a moment, and one when there is none.
 */
export function momentsBetween(schedule: Moments, after: number, until: number): number[] {
  const found = new Set<number>();
  for (const cron of readersOf(schedule)) {
    let at = before(cron, until + 1);
    for (let count = 0; count < MOST_MOMENTS && at !== undefined && at > after; count += 1) {
      found.add(at);
      at = before(cron, at);
    }
  }
  return ordered(found).slice(-MOST_MOMENTS);
}

/** The first `count` moments after `from`; fewer when the schedule names no more, and at most `MOST_MOMENTS`. */
export function nextMoments(schedule: Moments, from: number, count: number): number[] {
  const atMost = Math.min(count, MOST_MOMENTS);
  const found = readersOf(schedule).flatMap((cron) => cron.nextRuns(atMost, new Date(from)));
  return ordered(new Set(found.map((date) => date.getTime()))).slice(0, atMost);
}

/** The last moment before `from`; nothing when there was none. */
export function previousMoment(schedule: Moments, from: number): number | undefined {
  return ordered(new Set(readersOf(schedule).flatMap((cron) => before(cron, from) ?? []))).at(-1);
}

/** How long a firing waits after its moment: at least 0 and less than `jitterMs`, the same whoever computes it. */
export function jitterOf(policyName: string, moment: number, jitterMs: number): number {
  const hash = createHash('sha256').update(`${policyName} ${moment}`).digest();
  return Math.floor((hash.readUIntBE(0, 6) / 2 ** 48) * jitterMs);
}

/**
 * When the firing of a moment is due: the moment and its jitter, which is cut down to the time until the moment that
 * follows. Whoever knows that one already says so and saves the search.
 */
export function dueAt(
  policyName: string,
  schedule: Moments & Pick<Schedule, 'jitterMs'>,
  moment: number,
  following?: number,
): number {
  if (schedule.jitterMs === 0) return moment;
  const next = following ?? nextMoments(schedule, moment, 1)[0] ?? Number.POSITIVE_INFINITY;
  return moment + jitterOf(policyName, moment, Math.min(schedule.jitterMs, next - moment));
}

/** The blackout that a moment falls into: its days count from midnight to midnight in the schedule's time zone. */
export function blackoutOn(
  { blackout, timezone }: Pick<Schedule, 'blackout' | 'timezone'>,
  moment: number,
): Schedule['blackout'][number] | undefined {
  if (blackout.length === 0) return undefined;
  const day = dayOf(moment, timezone);
  return blackout.find(({ from, to }) => from <= day && day <= to);
}

/** A day as blackouts write it: 2026-12-24. */
function dayOf(moment: number, timeZone: string): string {
  const parts = new Intl.DateTimeFormat('en', {
    timeZone,
    calendar: 'gregory',
    numberingSystem: 'latn',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
  }).formatToParts(moment);
  const part = (type: string) => parts.find((one) => one.type === type)?.value ?? '';
  return `${part('year')}-${part('month')}-${part('day')}`;
}

const readersOf = ({ cron, timezone }: Moments): Cron[] =>
  cron.map(
    (expression) =>
      new Cron(expression, {
        mode: '5-part',
        timezone,
        paused: true,
        domAndDow: true,
        fixedTimeRule: 'no-wildcard',
      }),
  );

const before = (cron: Cron, from: number): number | undefined =>
  cron.previousRuns(1, new Date(from))[0]?.getTime();

const ordered = (moments: Set<number>): number[] => [...moments].sort((a, b) => a - b);
