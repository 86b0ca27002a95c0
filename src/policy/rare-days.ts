/** Days of a cron expression that come more rarely than the expression looks: valid, and often not what is meant. */
import { Cron } from 'croner';
import { DAY_MS } from '../dates.ts';
import type { Remark } from '../yaml/yaml-file.ts';

/** Weekdays and dates repeat after this many years. */
const CYCLE_YEARS = 28;
const YEAR_MS = 365.25 * DAY_MS;
const START = Date.UTC(2029, 0, 1);

/** What the days of an expression mean; undefined when they need no words. Costs some 10 ms for rare days. */
export function rareDays(expression: string): Remark | undefined {
  const [, , day = '', month = '', weekday = ''] = expression.trim().split(/\s+/);
  const isAny = (field: string) => /^[*?]$/.test(field);
  if (isAny(day)) return undefined;
  if (isAny(weekday)) return missingDate(day, month);
  const often = daysPerYear(`0 0 ${day} ${month} ${weekday}`);
  if (often === 0) return undefined;
  const words = often < 0.75 ? `in ${Math.round(1 / often)} years` : 'a year';
  const count = often < 1.5 ? 'one day' : `${Math.round(often)} days`;
  return {
    message: `The day of month and the day of week both have to match, on about ${count} ${words}.`,
    suggestion: 'to fire on either, write two expressions as a list',
  };
}

/** A date that some months do not have. */
function missingDate(day: string, month: string): Remark | undefined {
  const dates = day.split(',').map((item) => Number(/^(\d+)W?$/i.exec(item)?.[1] ?? 0));
  const date = Math.max(...dates);
  if (date < 29) return undefined;
  const firsts = calendar(`0 0 1 ${month} *`).nextRuns(12, new Date(START - 1));
  const lengths = firsts
    .filter((first) => first.getTime() < START + 365 * DAY_MS)
    .map((first) => new Date(Date.UTC(2029, first.getUTCMonth() + 1, 0)).getUTCDate());
  const having = lengths.filter((length) => length >= date).length;
  if (having === lengths.length) return undefined;
  const leap = date === 29 ? ', and in February of leap years' : '';
  return {
    message: `Day ${date} exists in ${having} months of ${lengths.length}${leap}.`,
    suggestion: 'L is the last day of every month',
  };
}

function daysPerYear(expression: string): number {
  const most = 240;
  const days = calendar(expression).nextRuns(most, new Date(START - 1));
  const isDense = days.length === most;
  const until = isDense ? (days.at(-1)?.getTime() ?? 0) : START + CYCLE_YEARS * YEAR_MS;
  return days.filter((one) => one.getTime() <= until).length / ((until - START) / YEAR_MS);
}

const calendar = (expression: string): Cron =>
  new Cron(expression, { mode: '5-part', utcOffset: 0, paused: true, domAndDow: true });
