/** Days on which a schedule fires nothing. */
import { DAY_MS, firstAt, isoDay, offsetAt } from '../dates.ts';
import type { Blackout, Schedule } from '../policy/policy.ts';
import { weekdays } from '../yaml/days.ts';

const TEN_YEARS = 3_653;

type WithBlackout = Pick<Schedule, 'blackout' | 'timezone'>;

/** The blackout that a scheduled time is in. Days last from midnight to midnight in the schedule's zone. */
export function blackoutOn({ blackout, timezone }: WithBlackout, scheduledFor: number): Blackout | undefined {
  if (blackout.length === 0) return undefined;
  return blackoutOnDay(blackout, dayNumber(timezone, scheduledFor));
}

/** The end of the blackout that contains this time; nothing when it lasts for ten years. */
export function endOfBlackout(
  { blackout, timezone }: WithBlackout,
  scheduledFor: number,
): number | undefined {
  const first = dayNumber(timezone, scheduledFor);
  let day = first;
  while (day - first < TEN_YEARS && blackoutOnDay(blackout, day)) day += 1;
  if (day - first >= TEN_YEARS) return undefined;
  return firstAt(timezone, day * DAY_MS);
}

/** A blackout in a few words: `calendar holidays, 2026-12-24 to 2026-12-26`. */
export function formatBlackout(blackout: Blackout): string {
  const { calendar } = blackout;
  const days =
    'weekday' in blackout
      ? `every ${blackout.weekday}`
      : blackout.from === blackout.to
        ? blackout.from
        : `${blackout.from} to ${blackout.to}`;
  return calendar === undefined ? days : `calendar ${calendar}, ${days}`;
}

/** The day that calendars in a zone show, counted from 1970. */
export const dayNumber = (zone: string, at: number): number => Math.floor((at + offsetAt(zone, at)) / DAY_MS);

/** `day` is counted from 1970, which began on a Thursday. */
export function blackoutOnDay(blackout: readonly Blackout[], day: number): Blackout | undefined {
  const isoDate = isoDay(day * DAY_MS);
  const weekday = weekdays[(day + 4) % 7];
  return blackout.find((days) =>
    'weekday' in days ? days.weekday === weekday : days.from <= isoDate && isoDate <= days.to,
  );
}
