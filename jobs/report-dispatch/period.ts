/**
 * Days that a job looks back on, such as last month: counted from the moment a run is for, in the policy's
 * time zone. Days are written YYYY-MM-DD, as the service writes them.
 */
import { z } from 'zod';

const DAY_MS = 86_400_000;
/** Local time is at most so far from UTC, with a margin. */
const FARTHEST_MS = 16 * 3_600_000;

const day = z.iso.date({ error: 'must be a day such as 2026-10-01' });

/** What a policy may write for a period. */
export const PeriodWish = z.union(
  [
    z.enum(['last_month', 'last_week']),
    z.strictObject({ start: day, end: day }).refine(({ start, end }) => start <= end, {
      path: ['end'],
      error: 'must be a day that is not before "start"',
    }),
  ],
  { error: 'must be last_month, last_week, or { start: 2026-10-01, end: 2026-10-31 }' },
);
export type PeriodWish = z.output<typeof PeriodWish>;

/** First and last day, both included. */
export interface Period {
  start: string;
  end: string;
}

/**
 * The days that `wish` means at a moment: the whole month before that day's, or the week before, Monday to
 * Sunday.
 */
export function periodOf(wish: PeriodWish, at: number, timezone: string): Period {
  if (typeof wish === 'object') return wish;
  const today = dayAt(at, timezone);
  if (wish === 'last_month') {
    const end = daysAfter(`${today.slice(0, 8)}01`, -1);
    return { start: `${end.slice(0, 8)}01`, end };
  }
  const sinceMonday = (new Date(today).getUTCDay() + 6) % 7;
  return { start: daysAfter(today, -sinceMonday - 7), end: daysAfter(today, -sinceMonday - 1) };
}

/** The day that calendars in a time zone show at a moment. */
export const dayAt = (at: number, timezone: string): string => calendarOf(timezone)(at);

/** The day so many days after another one, or before it. */
export const daysAfter = (from: string, days: number): string =>
  new Date(Date.parse(from) + days * DAY_MS).toISOString().slice(0, 10);

/**
 * The first moment of a day in a time zone, also where clocks skip midnight. Of a day that the zone left out
 * altogether: the first moment of the next.
 */
export function startOfDay(wanted: string, timezone: string): number {
  const shownAt = calendarOf(timezone);
  let before = Date.parse(wanted) - FARTHEST_MS;
  let since = Date.parse(wanted) + FARTHEST_MS;
  // A calendar never goes back, so the change to the day can be closed in on.
  while (since - before > 1) {
    const middle = Math.floor((before + since) / 2);
    if (shownAt(middle) < wanted) before = middle;
    else since = middle;
  }
  return since;
}

/** Where a period begins and ends in time: its first moment, and its last millisecond. */
export const boundsOf = ({ start, end }: Period, timezone: string): { from: number; to: number } => ({
  from: startOfDay(start, timezone),
  to: startOfDay(daysAfter(end, 1), timezone) - 1,
});

/** The month that a period is, whole: `2026-10`. */
export const monthOf = ({ start, end }: Period): string | undefined =>
  start.endsWith('-01') && daysAfter(end, 1) === `${daysAfter(start, 31).slice(0, 8)}01`
    ? start.slice(0, 7)
    : undefined;

/**
 * What people call a period: `October 2026`, or its first and last day, in the words of a language such as
 * `de`.
 */
export function sayPeriod(period: Period, language: string): string {
  const whole = monthOf(period) !== undefined;
  const form = whole ? ({ month: 'long', year: 'numeric' } as const) : ({ dateStyle: 'long' } as const);
  const { format } = new Intl.DateTimeFormat(language, { ...form, timeZone: 'UTC' });
  const [first, last] = [format(new Date(period.start)), format(new Date(period.end))];
  return first === last ? first : `${first} – ${last}`;
}

/** Whether a tag such as `de` or `pt-BR` names a language that we have words of. */
export function isLanguage(tag: string): boolean {
  try {
    return Intl.DateTimeFormat.supportedLocalesOf(tag).length > 0;
  } catch {
    return false;
  }
}

function calendarOf(timezone: string): (at: number) => string {
  const form = new Intl.DateTimeFormat('en', {
    timeZone: timezone,
    calendar: 'gregory',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
  });
  return (at) => {
    const parts = new Map(form.formatToParts(at).map(({ type, value }) => [type, value]));
    return `${parts.get('year')?.padStart(4, '0')}-${parts.get('month')}-${parts.get('day')}`;
  };
}
