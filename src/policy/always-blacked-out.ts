/** Finds schedules whose times are all on days of their blackout. */
import { Cron } from 'croner';
import { DAY_MS, isoDay } from '../dates.ts';
import { weekdays } from '../yaml/days.ts';
import type { Blackout, blackoutMoves } from './policy.ts';

/** The number of days with a scheduled time that are checked: over a month of a daily schedule. */
const DAYS = 40;

/**
 * `always`: its weekdays are all blacked out. `until`: its next 40 days are all blacked out, and `day` is the
 * last of them. Undefined: it has a time outside its blackout.
 */
export type BlackedOut = { is: 'always' } | { is: 'until'; day: string };

/** Costs a fraction of a millisecond for each day, and nothing without a blackout. */
export function alwaysBlackedOut(
  crons: readonly string[],
  blackout: readonly Blackout[],
  onBlackout: 'skip' | (typeof blackoutMoves)[number],
  now: number,
): BlackedOut | undefined {
  if (blackout.length === 0) return undefined;
  const days = crons.flatMap((cron) => daysOf(cron, now));
  const isOut = (kinds: readonly Blackout[]) => (day: number) =>
    kinds.some((one) => ('weekday' in one ? one.weekday === weekdayOf(day) : isWithin(one, day)));
  if (days.length === 0 || !days.every(isOut(blackout))) return undefined;
  const isAlwaysOut = isOut(blackout.filter((one) => 'weekday' in one));
  if (onBlackout === 'skip') {
    if (days.every(isAlwaysOut)) return { is: 'always' };
  } else {
    const today = Math.floor(now / DAY_MS);
    const step = onBlackout === 'next_workday' ? 1 : -1;
    const moved = days.flatMap((day) => workdayFrom(day, step, isOut(blackout)) ?? []);
    if (moved.some((day) => day >= today && day <= Math.max(...days))) return undefined;
    if (workdayFrom(today, 1, isAlwaysOut) === undefined) return { is: 'always' };
  }
  return { is: 'until', day: isoDay(Math.max(...days) * DAY_MS) };
}

/** The next days on which an expression has a time, today included, as days since 1970. */
function daysOf(expression: string, now: number): number[] {
  const cron = new Cron(expression, { mode: '5-part', utcOffset: 0, paused: true, domAndDow: true });
  const days: number[] = [];
  for (let from = Math.floor(now / DAY_MS) * DAY_MS; days.length < DAYS; ) {
    const next = cron.nextRun(new Date(from - 1));
    if (!next) break;
    const day = Math.floor(next.getTime() / DAY_MS);
    days.push(day);
    from = (day + 1) * DAY_MS;
  }
  return days;
}

/** The nearest day from Monday to Friday that is not blacked out. */
function workdayFrom(day: number, step: 1 | -1, isOut: (day: number) => boolean): number | undefined {
  for (let far = 0; far <= 2 * DAYS; far += 1) {
    const found = day + far * step;
    if (!isOut(found) && !['saturday', 'sunday'].includes(weekdayOf(found) ?? '')) return found;
  }
  return undefined;
}

const weekdayOf = (day: number) => weekdays[(day + 4) % 7];
const isWithin = ({ from, to }: { from: string; to: string }, day: number): boolean =>
  from <= isoDay(day * DAY_MS) && isoDay(day * DAY_MS) <= to;
