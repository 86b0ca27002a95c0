/** Finds schedules whose times are all on days of their blackout. */
import { Cron } from 'croner';
import { DAY_MS, isoDay } from '../dates.ts';
import { weekdays } from '../yaml/days.ts';
import type { Blackout } from './policy.ts';

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

const weekdayOf = (day: number) => weekdays[(day + 4) % 7];
const isWithin = ({ from, to }: { from: string; to: string }, day: number): boolean =>
  from <= isoDay(day * DAY_MS) && isoDay(day * DAY_MS) <= to;
