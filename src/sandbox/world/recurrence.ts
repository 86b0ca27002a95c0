/**
 * When a recurring item is due (spec 2.8, 2.13): counted in UTC from its start, whose time of day it keeps.
 */

import type { Recurrence } from '../model/tasks.ts';
import { DAY } from './service-time.ts';

const everyDays: Partial<Record<Recurrence, number>> = { daily: 1, weekly_on_day: 7, biweekly: 14 };

/** The first occurrence after `after`, and not before `startedAt`. */
export function nextOccurrence(recurrence: Recurrence, startedAt: number, after: number): number {
  const from = Math.max(startedAt, after + 1);
  const days = everyDays[recurrence];
  if (days !== undefined) return startedAt + Math.ceil((from - startedAt) / (days * DAY)) * days * DAY;
  const start = new Date(startedAt);
  const ahead = monthsBetween(start, new Date(from));
  // The occurrence in a month may be before `from`; then the next month counts.
  for (let month = ahead; ; month += 1) {
    const at = inMonth(recurrence, start, month);
    if (at >= from) return at;
  }
}

const monthsBetween = (start: Date, end: Date): number =>
  (end.getUTCFullYear() - start.getUTCFullYear()) * 12 + end.getUTCMonth() - start.getUTCMonth();

/** The occurrence in the month that is `months` after that of `start`. */
function inMonth(recurrence: Recurrence, start: Date, months: number): number {
  const [year, month] = [start.getUTCFullYear(), start.getUTCMonth() + months];
  const timeOfDay = start.getTime() % DAY;
  const lastDate = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
  const dates: Partial<Record<Recurrence, () => number>> = {
    // In a month that is too short, it is due on the last day.
    monthly_on_date: () => Math.min(start.getUTCDate(), lastDate),
    monthly_on_week: () => sameWeekday(start, Date.UTC(year, month, 1), lastDate),
  };
  const date = dates[recurrence]?.() ?? lastDate;
  return Date.UTC(year, month, date) + timeOfDay;
}

/**
 * The date with the same weekday and week as `start`, such as the third Tuesday. A missing fifth one becomes
 * the last.
 */
function sameWeekday(start: Date, firstOfMonth: number, lastDate: number): number {
  const week = Math.floor((start.getUTCDate() - 1) / 7);
  const first = ((start.getUTCDay() - new Date(firstOfMonth).getUTCDay() + 7) % 7) + 1;
  const date = first + week * 7;
  return date > lastDate ? date - 7 : date;
}
