/**
 * Which scheduled times a schedule names; pure, and the same for whoever asks.
 *
 * A scheduled time is nominal: what the expression says, in milliseconds since 1970. Jitter puts the firing a
 * little later and never as late as the next scheduled time, so that the firings of a policy keep the order
 * of their scheduled times.
 *
 * croner reads the expression and gives wall times; `dates.ts` says when they come. When clocks change,
 * an expression that names its hours (`30 2 * * *`, `0 1-4 * * *`) fires once for a time that is skipped, at
 * the first instant after it, and once for one that comes twice, the first time, unless `dst` says
 * otherwise. One that counts hours on (every minute, every second hour) goes on counting in real time. A day
 * of month and a day of week together both have to hold, as node-cron reads them.
 */
import { createHash } from 'node:crypto';
import { Cron } from 'croner';
import { DAY_MS, firstAt, isoDay, localTimeOf, offsetAt } from '../dates.ts';
import type { Blackout, Schedule } from '../policy/policy.ts';
import { weekdays } from '../yaml/days.ts';

/** What decides which scheduled times a schedule has. */
export type CronSchedule = Pick<Schedule, 'cron' | 'timezone' | 'dst'>;

const TEN_YEARS = 3_653;

/**
 * So many scheduled times are looked at together at most: a week of every five minutes, five years of every
 * day.
 */
export const MAX_SCHEDULED_TIMES = 2_000;

/**
 * The scheduled times after `after` and not after `until`, oldest first; a scheduled time that several
 * expressions name is one.
 *
 * Gives the newest `MAX_SCHEDULED_TIMES` when there are more. Costs some 0.1 ms a scheduled time, and one
 * when there is none.
 */
export function scheduledTimesBetween(schedule: CronSchedule, after: number, until: number): number[] {
  const found = new Set<number>();
  for (const reader of readersOf(schedule)) {
    let count = 0;
    for (const moment of before(reader, until + 1)) {
      if (moment <= after || count === MAX_SCHEDULED_TIMES) break;
      found.add(moment);
      count += 1;
    }
  }
  return ordered(found).slice(-MAX_SCHEDULED_TIMES);
}

/**
 * The first `count` scheduled times after `from`; fewer when the schedule names no more, and at most
 * `MAX_SCHEDULED_TIMES`.
 */
export function nextScheduledTimes(schedule: CronSchedule, from: number, count: number): number[] {
  const atMost = Math.min(count, MAX_SCHEDULED_TIMES);
  const found = readersOf(schedule).flatMap((reader) => taken(after(reader, from), atMost));
  return ordered(new Set(found)).slice(0, atMost);
}

/** The last scheduled time before `from`; nothing when there was none. */
export function previousScheduledTime(schedule: CronSchedule, from: number): number | undefined {
  return ordered(new Set(readersOf(schedule).flatMap((reader) => taken(before(reader, from), 1)))).at(-1);
}

/**
 * How long a firing waits after its scheduled time: at least 0 and less than `jitterMs`, the same whoever
 * computes it.
 */
export function jitterOf(policyName: string, moment: number, jitterMs: number): number {
  const hash = createHash('sha256').update(`${policyName} ${moment}`).digest();
  return Math.floor((hash.readUIntBE(0, 6) / 2 ** 48) * jitterMs);
}

/**
 * When the firing of a scheduled time is due: the scheduled time and its jitter, which is cut down to the
 * time until the scheduled time that follows. Whoever knows that one already says so and saves the search.
 */
export function dueAt(
  policyName: string,
  schedule: CronSchedule & Pick<Schedule, 'jitterMs'>,
  moment: number,
  following?: number,
): number {
  if (schedule.jitterMs === 0) return moment;
  const next = following ?? nextScheduledTimes(schedule, moment, 1)[0] ?? Number.POSITIVE_INFINITY;
  return moment + jitterOf(policyName, moment, Math.min(schedule.jitterMs, next - moment));
}

type WithBlackout = Pick<Schedule, 'blackout' | 'timezone'>;

/**
 * The blackout that a scheduled time falls into: its days count from midnight to midnight in the schedule's
 * time zone.
 */
export function blackoutOn({ blackout, timezone }: WithBlackout, moment: number): Blackout | undefined {
  if (blackout.length === 0) return undefined;
  return blackoutOnDay(blackout, Math.floor((moment + offsetAt(timezone, moment)) / DAY_MS));
}

/** The first instant after the blackout that `moment` is in; nothing when it lasts for ten years. */
export function endOfBlackout({ blackout, timezone }: WithBlackout, moment: number): number | undefined {
  const first = Math.floor((moment + offsetAt(timezone, moment)) / DAY_MS);
  let day = first;
  while (day - first < TEN_YEARS && blackoutOnDay(blackout, day)) day += 1;
  if (day - first >= TEN_YEARS) return undefined;
  return firstAt(timezone, day * DAY_MS);
}

/** A blackout in a few words: `calendar holidays, 2026-12-24 to 2026-12-26`. */
export function formatBlackout(blackout: Blackout): string {
  const { calendar } = blackout;
  const days =
    'weekday' in blackout
      ? `every ${blackout.weekday}`
      : blackout.from === blackout.to
        ? blackout.from
        : `${blackout.from} to ${blackout.to}`;
  return calendar === undefined ? days : `calendar ${calendar}, ${days}`;
}

/** `day` is counted from 1970, which began on a Thursday. */
function blackoutOnDay(blackout: readonly Blackout[], day: number): Blackout | undefined {
  const written = isoDay(day * DAY_MS);
  const weekday = weekdays[(day + 4) % 7];
  return blackout.find((days) =>
    'weekday' in days ? days.weekday === weekday : days.from <= written && written <= days.to,
  );
}

/** One expression of a schedule, with what becomes of its wall times when clocks change. */
interface Reader {
  cron: Cron;
  zone: string;
  gap: 'shift' | 'skip';
  overlap: 'first' | 'last' | 'both';
}

const readersOf = ({ cron, timezone, dst }: CronSchedule): Reader[] =>
  cron.map((expression) => ({
    // In UTC, a scheduled time is its own wall time.
    cron: new Cron(expression, { mode: '5-part', utcOffset: 0, paused: true, domAndDow: true }),
    zone: timezone,
    // Hours that are counted on are neither caught up when they are skipped nor left out when they come
    // twice.
    ...(/[*?/]/.test(expression.trim().split(/\s+/)[1] ?? '')
      ? ({ gap: 'skip', overlap: 'both' } as const)
      : (dst ?? shiftedAndFirst)),
  }));

const shiftedAndFirst = { gap: 'shift', overlap: 'first' } as const;

/** Wall times that are read together: few at first, since most ask for one or two. */
const FIRST_BATCH = 2;
const MAX_IN_BATCH = 64;

/** The scheduled times after `from`, in their order. */
function* after(reader: Reader, from: number): Generator<number> {
  const { cron, zone } = reader;
  let wall: number | undefined = from + Math.min(offsetAt(zone, from), offsetAt(zone, from + DAY_MS));
  // A scheduled time is given when no later wall time can come before it: those that come twice overtake each
  // other.
  const found = new Set<number>();
  for (let batch = FIRST_BATCH; wall !== undefined; batch = Math.min(MAX_IN_BATCH, batch * 4)) {
    const walls: number[] = cron.nextRuns(batch, new Date(wall)).map((date) => date.getTime());
    for (const one of walls) {
      const { moments, earliest } = scheduledTimesOf(reader, one);
      for (const moment of ordered(found)) {
        if (moment >= earliest) break;
        found.delete(moment);
        yield moment;
      }
      for (const moment of moments) if (moment > from) found.add(moment);
    }
    wall = walls.length < batch ? undefined : walls.at(-1);
  }
  yield* ordered(found);
}

/** The scheduled times before `from`, the last one first. */
function* before(reader: Reader, from: number): Generator<number> {
  const { cron, zone } = reader;
  let wall: number | undefined = from + Math.max(offsetAt(zone, from), offsetAt(zone, from - DAY_MS));
  const found = new Set<number>();
  for (let batch = FIRST_BATCH; wall !== undefined; batch = Math.min(MAX_IN_BATCH, batch * 4)) {
    const walls: number[] = cron.previousRuns(batch, new Date(wall)).map((date) => date.getTime());
    for (const one of walls) {
      const { moments, latest } = scheduledTimesOf(reader, one);
      for (const moment of ordered(found).reverse()) {
        if (moment <= latest) break;
        found.delete(moment);
        yield moment;
      }
      for (const moment of moments) if (moment < from) found.add(moment);
    }
    wall = walls.length < batch ? undefined : walls.at(-1);
  }
  yield* ordered(found).reverse();
}

/** The scheduled times of a wall time, and the earliest and latest that it could have had under any `dst`. */
function scheduledTimesOf({ zone, gap, overlap }: Reader, wall: number) {
  const coming = localTimeOf(zone, wall);
  if (coming.is === 'once') return { moments: [coming.at], earliest: coming.at, latest: coming.at };
  if (coming.is === 'skipped') {
    const { changeAt } = coming;
    return { moments: gap === 'shift' ? [changeAt] : [], earliest: changeAt, latest: changeAt };
  }
  const { first, last } = coming;
  const moments = overlap === 'both' ? [first, last] : [overlap === 'first' ? first : last];
  return { moments, earliest: first, latest: last };
}

function taken<T>(values: Iterable<T>, count: number): T[] {
  const found: T[] = [];
  if (count > 0)
    for (const value of values) {
      found.push(value);
      if (found.length >= count) break;
    }
  return found;
}

const ordered = (moments: Set<number>): number[] => [...moments].sort((a, b) => a - b);
