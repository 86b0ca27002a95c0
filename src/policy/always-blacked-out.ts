/** Schedules all of whose times fall on days of their own blackout. */
import { Cron } from 'croner';
import { DAY_MS, isoDay } from '../dates.ts';
import { weekdays } from '../yaml/days.ts';
import type { Blackout } from './policy.ts';

/**
 * So many days with a time are checked: more than a month of a daily schedule, all weekdays of any other.
 */
const DAYS = 40;

/**
 * `always`: weekdays leave no day to the schedule, ever. `until`: none of its next 40 days, the last of which
 * is this one. Nothing: it has a time that is no blackout.
 */
export type BlackedOut = { is: 'always' } | { is: 'until'; day: string };

/** Costs a fraction of a millisecond for each day, and nothing without a blackout. */
export function alwaysBlackedOut(
  crons: readonly string[],
  blackout: readonly Blackout[],
  now: number,
): BlackedOut | undefined {
  if (blackout.length === 0) return undefined;
  const days = crons.flatMap((cron) => daysOf(cron, now));
  const isOut = (kinds: readonly Blackout[]) => (day: number) =>
    kinds.some((one) => ('weekday' in one ? one.weekday === weekdayOf(day) : isWithin(one, day)));
  if (days.length === 0 || !days.every(isOut(blackout))) return undefined;
  if (days.every(isOut(blackout.filter((one) => 'weekday' in one)))) return { is: 'always' };
  return { is: 'until', day: isoDay(Math.max(...days) * DAY_MS) };
}

/** The days, counted from 1970, on which an expression names a time, from today on. */
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

const weekdayOf = (day: number) => weekdays[(day + 4) % 7];
const isWithin = ({ from, to }: { from: string; to: string }, day: number): boolean =>
  from <= isoDay(day * DAY_MS) && isoDay(day * DAY_MS) <= to;
