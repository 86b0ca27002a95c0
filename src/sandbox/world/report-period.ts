/** The days of a report. Days are written YYYY-MM-DD, in a timezone. */
import { dayIn, daysAfter } from '../../dates.ts';
import type { Site } from '../model/site.ts';
import { snapshotsOf } from './snapshots.ts';

export interface Period {
  startDate: string;
  endDate: string;
}

/** Whether the site has successful snapshots from the first day or before up to the last day or after. */
export function snapshotsCover(site: Site, { startDate, endDate }: Period, timezone: string): boolean {
  const days = snapshotsOf(site)
    .filter(({ status }) => status === 'succeeded')
    .map(({ createdAt }) => dayIn(timezone, createdAt));
  const [first, last] = [days[0], days.at(-1)];
  return first !== undefined && last !== undefined && first <= startDate && last >= endDate;
}

/** The days of a scheduled report made at `at`: as many days before it as its frequency has. */
export function periodBefore(
  at: number,
  frequency: 'weekly' | 'biweekly' | 'monthly',
  timezone: string,
): Period {
  const today = dayIn(timezone, at);
  const days = { weekly: 7, biweekly: 14, monthly: daysOfMonthBefore(today) }[frequency];
  return { startDate: daysAfter(today, -days), endDate: daysAfter(today, -1) };
}

const daysOfMonthBefore = (day: string): number => Number(daysAfter(`${day.slice(0, 8)}01`, -1).slice(8));
