/** The days of a report. Days are written YYYY-MM-DD, in a timezone. */
import { dayIn, daysAfter } from '../../dates.ts';
import type { Site, Snapshot } from '../model/site.ts';
import { snapshotsOf } from './snapshots.ts';

export interface Period {
  startDate: string;
  endDate: string;
}

/** Whether the site has successful snapshots from the first day or before up to the last day or after. */
export function snapshotsCover(site: Site, { startDate, endDate }: Period, timezone: string): boolean {
  const hasSucceeded = ({ status }: Snapshot) => status === 'succeeded';
  const snapshots = snapshotsOf(site);
  const [first, last] = [snapshots.find(hasSucceeded), snapshots.findLast(hasSucceeded)];
  if (!first || !last) return false;
  return dayIn(timezone, first.createdAt) <= startDate && dayIn(timezone, last.createdAt) >= endDate;
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
