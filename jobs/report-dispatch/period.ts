/**
 * The period of a report, such as last month. It is counted from the scheduled time of its run, in the
 * policy's time zone. Days are written YYYY-MM-DD, as the service writes them.
 */
import { z } from 'zod';
import { dayIn, daysAfter, startOfDay } from '../../src/dates.ts';

const day = z.iso.date({ error: 'must be a day such as 2026-10-01' });

/** The option `period` of a policy. */
export const PeriodOption = z.union(
  [
    z.enum(['last_month', 'last_week']),
    z.strictObject({ start: day, end: day }).refine(({ start, end }) => start <= end, {
      path: ['end'],
      error: 'must be a day that is not before "start"',
    }),
  ],
  { error: 'must be last_month, last_week, or { start: 2026-10-01, end: 2026-10-31 }' },
);
export type PeriodOption = z.output<typeof PeriodOption>;

/** First and last day, both included. */
export interface Period {
  start: string;
  end: string;
}

/** The period for a scheduled time: the calendar month before it, or the week before it, Monday to Sunday. */
export function periodOf(option: PeriodOption, at: number, timezone: string): Period {
  if (typeof option === 'object') return option;
  const today = dayIn(timezone, at);
  if (option === 'last_month') {
    const end = daysAfter(`${today.slice(0, 8)}01`, -1);
    return { start: `${end.slice(0, 8)}01`, end };
  }
  const sinceMonday = (new Date(today).getUTCDay() + 6) % 7;
  return { start: daysAfter(today, -sinceMonday - 7), end: daysAfter(today, -sinceMonday - 1) };
}

/** The period of the report that a run makes. */
export const periodIn = ({
  options: { period },
  runContext: { at, timezone },
}: {
  options: { period: PeriodOption };
  runContext: { at: number; timezone: string };
}): Period => periodOf(period, at, timezone);

/** The first and the last millisecond of a period. */
export const boundsOf = ({ start, end }: Period, timezone: string): { from: number; to: number } => ({
  from: startOfDay(timezone, start),
  to: startOfDay(timezone, daysAfter(end, 1)) - 1,
});

/** The month, if the period is exactly one month: `2026-10`. */
export const monthOf = ({ start, end }: Period): string | undefined =>
  start.endsWith('-01') && daysAfter(end, 1) === `${daysAfter(start, 31).slice(0, 8)}01`
    ? start.slice(0, 7)
    : undefined;

/** A period for people, in a language such as `de`: `October 2026`, or its first and last day. */
export function formatPeriod(period: Period, language: string): string {
  const whole = monthOf(period) !== undefined;
  const form = whole ? ({ month: 'long', year: 'numeric' } as const) : ({ dateStyle: 'long' } as const);
  const { format } = new Intl.DateTimeFormat(language, { ...form, timeZone: 'UTC' });
  const [first, last] = [format(new Date(period.start)), format(new Date(period.end))];
  return first === last ? first : `${first} – ${last}`;
}

/** Whether a tag such as `de` or `pt-BR` names a language that Node can format dates in. */
export function isLanguage(tag: string): boolean {
  try {
    return Intl.DateTimeFormat.supportedLocalesOf(tag).length > 0;
  } catch {
    return false;
  }
}
