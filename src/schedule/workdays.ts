/**
 * Where scheduled times on days of a blackout are moved (`schedule.on_blackout`); pure.
 *
 * Days are counted from 1970, as calendars in the schedule's zone show them. A workday is a day from Monday
 * to Friday that is not blacked out.
 */
import type { Schedule } from '../policy/policy.ts';
import { blackoutOnDay } from './blackout.ts';

/** A longer time without a workday moves nothing. */
const FARTHEST = 370;

export interface Moves {
  direction: 'next' | 'previous';
  /** The day that the times of a day of blackout are moved to; undefined for other days. */
  target(day: number): number | undefined;
  /** Whether times of this day stay, and no times of other days cross it. */
  isWorkday(day: number): boolean;
  /** This day if it is a workday, else the nearest workday after it or before it; undefined if it is too far. */
  workdayFrom(day: number, step: 1 | -1): number | undefined;
}

/** Undefined for a schedule that moves nothing. */
export function movesOf({
  blackout = [],
  onBlackout,
}: Partial<Pick<Schedule, 'blackout' | 'onBlackout'>>): Moves | undefined {
  if (onBlackout === undefined || blackout.length === 0) return undefined;
  const isOut = (day: number) => blackoutOnDay(blackout, day) !== undefined;
  const isWorkday = (day: number) => !isWeekend(day) && !isOut(day);
  const workdayFrom = (day: number, step: 1 | -1): number | undefined => {
    for (let far = 0; far <= FARTHEST; far += 1) if (isWorkday(day + far * step)) return day + far * step;
    return undefined;
  };
  const direction = onBlackout === 'next_workday' ? 'next' : 'previous';
  const step = direction === 'next' ? 1 : -1;
  return {
    direction,
    isWorkday,
    workdayFrom,
    target: (day) => (isOut(day) ? workdayFrom(day, step) : undefined),
  };
}

/** 1970 began on a Thursday. */
const isWeekend = (day: number): boolean => [0, 6].includes((day + 4) % 7);
