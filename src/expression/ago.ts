/** The distance between two times as a person writes it: "3 days ago", "in 2 hours". */

import { DAY_MS, HOUR_MS, MINUTE_MS } from '../dates.ts';
import { countOf } from '../text.ts';

/**
 * How far `time` is from `now`, rounded down: minutes up to an hour, hours up to two days, then days. The time
 * that stands for null, 1970-01-01, is "never".
 */
export function ago(time: Date, now: Date): string {
  if (time.getTime() === 0) return 'never';
  const passed = now.getTime() - time.getTime();
  const distance = Math.abs(passed);
  if (distance < MINUTE_MS) return 'just now';
  const text =
    distance < HOUR_MS
      ? countOf(Math.floor(distance / MINUTE_MS), 'minute')
      : distance < 2 * DAY_MS
        ? countOf(Math.floor(distance / HOUR_MS), 'hour')
        : countOf(Math.floor(distance / DAY_MS), 'day');
  return passed > 0 ? `${text} ago` : `in ${text}`;
}
