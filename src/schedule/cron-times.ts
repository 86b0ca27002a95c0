/**
 * The scheduled times of cron expressions, and their jitter; pure.
 *
 * A scheduled time is nominal: the time in the expression, in milliseconds since 1970. Jitter delays the
 * firing, always by less than the time to the next scheduled time, so that firings keep their order.
 *
 * croner reads the expression and gives wall times; `dates.ts` finds when they occur. When clocks change, an
 * expression with fixed hours (`30 2 * * *`, `0 1-4 * * *`) fires once for a time that is skipped, at the
 * first instant after it, and once for a time that occurs twice, at the first, unless `dst` is set. One that
 * repeats by hours or minutes (every minute, every second hour) continues in real time. Day of month and day
 * of week must both match, as in node-cron.
 *
 * With `on_blackout`, the times on days of the blackout are replaced by the same wall times on a workday: the
 * moved time is the scheduled time, and two that fall together are one.
 */
import { createHash } from 'node:crypto';
import { Cron } from 'croner';
import { DAY_MS, firstAt, localTimeOf, offsetAt } from '../dates.ts';
import type { Schedule } from '../policy/policy.ts';
import { dayNumber } from './skip-cause.ts';
import { type Moves, movesOf } from './wall-time.ts';

/** What the scheduled times depend on. */
export type CronSchedule = Pick<Schedule, 'cron' | 'timezone' | 'dst'> &
  Partial<Pick<Schedule, 'blackout' | 'onBlackout'>>;

/** The most scheduled times in one answer: a week of every five minutes, also one of 169 hours; five years of every day. */
export const MAX_SCHEDULED_TIMES = 2_050;

/**
 * The scheduled times after `after` and not after `until`, oldest first; one that several expressions name
 * occurs once.
 *
 * Returns the newest `MAX_SCHEDULED_TIMES` when there are more. Costs some 0.1 ms for each.
 */
export function scheduledTimesBetween(schedule: CronSchedule, after: number, until: number): number[] {
  const found = new Set<number>();
  for (const reader of readersOf(schedule)) {
    let count = 0;
    for (const scheduledFor of before(reader, until + 1)) {
      if (scheduledFor <= after || count === MAX_SCHEDULED_TIMES) break;
      found.add(scheduledFor);
      count += 1;
    }
  }
  return ordered(found).slice(-MAX_SCHEDULED_TIMES);
}

/**
 * The first `count` scheduled times after `from`, if there are as many; at most `MAX_SCHEDULED_TIMES`. With `until`, no
 * more than those up to it and the first one after it.
 */
export function nextScheduledTimes(
  schedule: CronSchedule,
  from: number,
  count: number,
  until = Number.POSITIVE_INFINITY,
): number[] {
  const atMost = Math.min(count, MAX_SCHEDULED_TIMES);
  const found = readersOf(schedule).flatMap((reader) => firstOf(after(reader, from), atMost, until));
  return ordered(new Set(found)).slice(0, atMost);
}

/** The last scheduled time before `from`; nothing when there was none. */
export function previousScheduledTime(schedule: CronSchedule, from: number): number | undefined {
  return ordered(new Set(readersOf(schedule).flatMap((reader) => firstOf(before(reader, from), 1)))).at(-1);
}

/** A time on a day of blackout, and the scheduled time that it is moved to. */
export interface MovedTime {
  from: number;
  to: number;
}

/** The times of the expressions from `from` to `to`, both included, that are moved; oldest first. */
export function movedTimesBetween(schedule: CronSchedule, from: number, to: number): MovedTime[] {
  const moved = new Map<number, number>();
  for (const reader of readersOf(schedule)) {
    const { cron, zone, moves } = reader;
    if (!moves) return [];
    let wall = new Date(from + Math.min(offsetAt(zone, from), offsetAt(zone, from + DAY_MS)) - 1_000);
    const last = to + Math.max(offsetAt(zone, to), offsetAt(zone, to - DAY_MS));
    for (let next = cron.nextRun(wall); next && next.getTime() <= last; next = cron.nextRun(wall)) {
      wall = next;
      const target = wallMovedFrom(moves, wall.getTime());
      if (target === undefined) continue;
      const [origin] = localTimesOf(reader, wall.getTime()).times;
      const [time] = localTimesOf(reader, target).times;
      if (origin !== undefined && time !== undefined && origin >= from && origin <= to)
        moved.set(origin, time);
      if (moved.size === MAX_SCHEDULED_TIMES) break;
    }
  }
  return [...moved].map(([origin, time]) => ({ from: origin, to: time })).sort((a, b) => a.from - b.from);
}

/** The times on days of blackout that are moved to this scheduled time, oldest first. */
export function timesMovedHere(schedule: CronSchedule, scheduledFor: number): number[] {
  const moves = movesOf(schedule);
  if (!moves) return [];
  const day = dayNumber(schedule.timezone, scheduledFor);
  const [first, last] =
    moves.direction === 'next'
      ? [(moves.workdayFrom(day - 1, -1) ?? day) + 1, day]
      : [day + 1, moves.workdayFrom(day + 1, 1) ?? day];
  return movedTimesBetween(schedule, (first - 1) * DAY_MS, (last + 1) * DAY_MS)
    .filter(({ to }) => to === scheduledFor)
    .map(({ from }) => from);
}

/** The delay of a firing after its scheduled time: from 0 to below `jitterMs`, the same in every process. */
export function jitterOf(policyName: string, scheduledFor: number, jitterMs: number): number {
  const hash = createHash('sha256').update(`${policyName} ${scheduledFor}`).digest();
  return Math.floor((hash.readUIntBE(0, 6) / 2 ** 48) * jitterMs);
}

/**
 * When the firing of a scheduled time is due: the scheduled time plus jitter, which is limited to the time
 * until the next scheduled time. A caller that knows the next one passes it as `following`.
 */
export function dueAt(
  policyName: string,
  schedule: CronSchedule & Pick<Schedule, 'jitterMs'>,
  scheduledFor: number,
  following?: number,
): number {
  if (schedule.jitterMs === 0) return scheduledFor;
  const next = following ?? nextScheduledTimes(schedule, scheduledFor, 1)[0] ?? Number.POSITIVE_INFINITY;
  return scheduledFor + jitterOf(policyName, scheduledFor, Math.min(schedule.jitterMs, next - scheduledFor));
}

/** One expression of a schedule, with the rules for changes of clocks. */
interface Reader {
  cron: Cron;
  zone: string;
  gap: 'shift' | 'skip';
  overlap: 'first' | 'last' | 'both';
  moves: Moves | undefined;
}

const readersOf = ({ cron, timezone, dst, ...days }: CronSchedule): Reader[] =>
  cron.map((expression) => ({
    moves: movesOf(days),
    // In UTC, a scheduled time is its own wall time.
    cron: new Cron(expression, { mode: '5-part', utcOffset: 0, paused: true, domAndDow: true }),
    zone: timezone,
    // An expression that repeats by hours is not shifted when an hour is skipped, and fires in both when one
    // occurs twice.
    ...(/[*?/]/.test(expression.trim().split(/\s+/)[1] ?? '')
      ? ({ gap: 'skip', overlap: 'both' } as const)
      : (dst ?? shiftedAndFirst)),
  }));

const shiftedAndFirst = { gap: 'shift', overlap: 'first' } as const;

/** Wall times are read in batches: small at first, since most callers need one or two. */
const FIRST_BATCH = 2;
const MAX_IN_BATCH = 64;

/** The scheduled times after `from`, oldest first. */
function* after(reader: Reader, from: number): Generator<number> {
  const { cron, zone } = reader;
  let wall: number | undefined = firstWall(
    reader,
    from + Math.min(offsetAt(zone, from), offsetAt(zone, from + DAY_MS)),
  );
  // Wall times that occur twice are out of order: a scheduled time is yielded when no later wall time can
  // come before it.
  const found = new Set<number>();
  for (let batch = FIRST_BATCH; wall !== undefined; batch = Math.min(MAX_IN_BATCH, batch * 4)) {
    const walls: number[] = cron.nextRuns(batch, new Date(wall)).map((date) => date.getTime());
    for (const one of walls) {
      const { times, earliest } = scheduledTimesOf(reader, one);
      for (const scheduledFor of ordered(found)) {
        if (scheduledFor >= earliest) break;
        found.delete(scheduledFor);
        yield scheduledFor;
      }
      for (const scheduledFor of times) if (scheduledFor > from) found.add(scheduledFor);
    }
    wall = walls.length < batch ? undefined : walls.at(-1);
  }
  yield* ordered(found);
}

/** The scheduled times before `from`, newest first. */
function* before(reader: Reader, from: number): Generator<number> {
  const { cron, zone } = reader;
  let wall: number | undefined = lastWall(
    reader,
    from + Math.max(offsetAt(zone, from), offsetAt(zone, from - DAY_MS)),
  );
  const found = new Set<number>();
  for (let batch = FIRST_BATCH; wall !== undefined; batch = Math.min(MAX_IN_BATCH, batch * 4)) {
    const walls: number[] = cron.previousRuns(batch, new Date(wall)).map((date) => date.getTime());
    for (const one of walls) {
      const { times, latest } = scheduledTimesOf(reader, one);
      for (const scheduledFor of ordered(found).reverse()) {
        if (scheduledFor <= latest) break;
        found.delete(scheduledFor);
        yield scheduledFor;
      }
      for (const scheduledFor of times) if (scheduledFor < from) found.add(scheduledFor);
    }
    wall = walls.length < batch ? undefined : walls.at(-1);
  }
  yield* ordered(found).reverse();
}

/** The wall time at which reading starts, so that earlier times that are moved past it are not left out. */
function firstWall({ moves }: Reader, wall: number): number {
  if (moves?.direction !== 'next') return wall;
  const day = Math.floor(wall / DAY_MS);
  const before = moves.workdayFrom(day - 1, -1);
  return before === undefined ? wall : (before + 1) * DAY_MS - 1_000;
}

function lastWall({ moves }: Reader, wall: number): number {
  if (moves?.direction !== 'previous') return wall;
  const day = Math.floor(wall / DAY_MS);
  const after = moves.workdayFrom(day + 1, 1);
  return after === undefined ? wall : after * DAY_MS;
}

/** The wall time that a wall time on a day of blackout is moved to. */
function wallMovedFrom(moves: Moves, wall: number): number | undefined {
  const day = Math.floor(wall / DAY_MS);
  const target = moves.target(day);
  return target === undefined ? undefined : wall + (target - day) * DAY_MS;
}

/**
 * The scheduled times of a wall time, the earliest possible time of this and all later wall times, and the
 * latest of this and all earlier ones.
 */
function scheduledTimesOf(reader: Reader, wall: number) {
  const own = localTimesOf(reader, wall);
  const { moves, zone } = reader;
  if (!moves) return own;
  const moved = wallMovedFrom(moves, wall);
  const times = moved === undefined ? own.times : localTimesOf(reader, moved).times;
  const day = Math.floor(wall / DAY_MS);
  // Next to a workday that keeps its times, nothing is moved across this one.
  const step = moves.direction === 'next' ? -1 : 1;
  if (moved === undefined && moves.isWorkday(day + step)) return { ...own, times };
  if (moves.direction === 'next') {
    const target = moves.workdayFrom(day, 1);
    const latest = target === undefined ? own.latest : firstAt(zone, (target + 1) * DAY_MS) - 1;
    return { times, earliest: own.earliest, latest: Math.max(own.latest, latest) };
  }
  const target = moves.workdayFrom(day, -1);
  const earliest = target === undefined ? own.earliest : firstAt(zone, target * DAY_MS);
  return { times, earliest: Math.min(own.earliest, earliest), latest: own.latest };
}

/** When a wall time occurs, and the earliest and latest possible under any `dst`. */
function localTimesOf({ zone, gap, overlap }: Reader, wall: number) {
  const local = localTimeOf(zone, wall);
  if (local.is === 'once') return { times: [local.at], earliest: local.at, latest: local.at };
  if (local.is === 'skipped') {
    const { changeAt } = local;
    return { times: gap === 'shift' ? [changeAt] : [], earliest: changeAt, latest: changeAt };
  }
  const { first, last } = local;
  const times = overlap === 'both' ? [first, last] : [overlap === 'first' ? first : last];
  return { times, earliest: first, latest: last };
}

/** The first values, the first one above `until` included. */
function firstOf(values: Iterable<number>, count: number, until = Number.POSITIVE_INFINITY): number[] {
  const found: number[] = [];
  if (count > 0)
    for (const value of values) {
      found.push(value);
      if (found.length >= count || value > until) break;
    }
  return found;
}

const ordered = (times: Set<number>): number[] => [...times].sort((a, b) => a - b);
