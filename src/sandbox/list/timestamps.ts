/** Times in filters: with an offset, or as local time or a day in a timezone (spec 4.1). */
import { daysAfter, firstAt, isTimezone, startOfDay } from '../../dates.ts';
import { malformed } from '../refusal.ts';

/** @throws {Refusal} 400 unless this machine knows the timezone. */
export function requireTimezone(name: string): void {
  if (!isTimezone(name)) throw malformed(`there is no timezone "${name}"`);
}

/**
 * The first and the last time of a filter's value: equal for a time, different for a day. A local time that
 * occurs twice means the first one; a local time that is skipped means the time of the change.
 *
 * So `created_at:lte=2026-11-21` includes that day (our choice; the spec shows no plain days for timestamps).
 */
export function timestampsOf(value: string, timezone: string): { first: number; last: number } {
  if (/(Z|[+-]\d{2}:\d{2})$/i.test(value)) {
    const at = Date.parse(value);
    return { first: at, last: at };
  }
  if (value.includes('T')) {
    const at = firstAt(timezone, Date.parse(`${value}Z`));
    return { first: at, last: at };
  }
  return {
    first: startOfDay(timezone, value),
    last: startOfDay(timezone, daysAfter(value, 1)) - 1,
  };
}
