/** Days and times as texts in a given time zone, for pages that are laid out by days. */
import { isTimezone, offsetAt } from '../../dates.ts';

const weekdays = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'] as const;
const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'] as const;

/** The time zone that an address names; UTC without one and for a name that is not known. */
export const zoneOf = (name: string | undefined): string =>
  name !== undefined && name.length <= 64 && isTimezone(name) ? name : 'UTC';

/** `02:00`. */
export const clockIn = (zone: string, at: number): string =>
  new Date(at + offsetAt(zone, at)).toISOString().slice(11, 16);

/** `Tue 24 Nov`, of a day such as `2026-11-24`. */
export function dayName(day: string): string {
  const date = new Date(day);
  return `${weekdays[date.getUTCDay()]} ${date.getUTCDate()} ${months[date.getUTCMonth()]}`;
}

/** `Tue 24 Nov 02:00`. */
export const timeOnDay = (zone: string, at: number): string => {
  const wall = new Date(at + offsetAt(zone, at)).toISOString();
  return `${dayName(wall.slice(0, 10))} ${wall.slice(11, 16)}`;
};
