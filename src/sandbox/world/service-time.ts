/** The service's own time, which may run faster than the clock it is derived from. */
import type { Clock } from '../../clock.ts';
import { isoDay } from '../../dates.ts';

export const SECOND = 1000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/**
 * Starts the service's time at `from`, by default the clock's current time; it runs `speed` times as fast.
 */
export function serviceTime(clock: Clock, speed: number, from: number = clock.now()): () => number {
  const startedAt = clock.now();
  return () => Math.floor(from + (clock.now() - startedAt) * speed);
}

/** The first time after `at` with this time of day (`02:30Z` or `02:30:00Z`). */
export function nextTimeOfDay(timeOfDay: string, at: number): number {
  const today = Date.parse(`${isoDay(at)}T${timeOfDay}`);
  return today > at ? today : today + DAY;
}
