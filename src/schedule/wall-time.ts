/** Days and times as people write them, in a policy's time zone. */
import { DAY_MS, firstAt, isoDay, localTimeOf, MINUTE_MS, noSuchDay, offsetAt } from '../dates.ts';
import type { Schedule } from '../policy/policy.ts';
import { parseDuration } from '../yaml/duration.ts';
import { blackoutOnDay } from './skip-cause.ts';

/** From and to, both included, in milliseconds since 1970. */
export interface Span {
  from: number;
  to: number;
}

const weekdays = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];

/** A time in a zone: `Sat 2026-11-21 02:00`; seconds only where there are any. */
export function wallTime(at: number, zone: string): string {
  const wall = new Date(at + offsetAt(zone, at));
  const [day = '', time = ''] = wall.toISOString().split('T');
  return `${weekdays[wall.getUTCDay()]} ${day} ${time.slice(0, at % MINUTE_MS < 1_000 ? 5 : 8)}`;
}

/**
 * The day, or the minute, that a text names in a zone; two minutes where a local time occurs twice. Nothing
 * when the text names none.
 */
export function spansOf(text: string, zone: string, now: number): Span[] | undefined {
  const today = midnight(now + offsetAt(zone, now));
  const days: Record<string, number> = { yesterday: -1, today: 0, tomorrow: 1 };
  const word = days[text.trim().toLowerCase()];
  if (word !== undefined) return [dayFrom(today + word * DAY_MS, zone)];
  const match =
    /^(?:(\d{4}-\d\d-\d\d)|(?:(\d{4}-\d\d-\d\d)[T ])?(\d\d:\d\d)(?::\d\d(?:\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)$/i.exec(
      text.trim(),
    );
  if (!match) return undefined;
  const [, wholeDay, day, time, offset] = match;
  if (wholeDay !== undefined) {
    const wall = Date.parse(`${wholeDay}T00:00Z`);
    return isDay(wholeDay) ? [dayFrom(wall, zone)] : undefined;
  }
  if (day !== undefined && !isDay(day)) return undefined;
  const onDay = day ?? isoDay(today);
  const wall = Date.parse(`${onDay}T${time}${offset ?? 'Z'}`);
  if (Number.isNaN(wall)) return undefined;
  if (offset !== undefined) return [minuteFrom(wall)];
  const local = localTimeOf(zone, wall);
  if (local.is === 'twice') return [minuteFrom(local.first), minuteFrom(local.last)];
  return [minuteFrom(local.is === 'once' ? local.at : local.changeAt)];
}

/** What is wrong with a text that `spansOf` does not know. */
export function formatNoSpan(text: string): string {
  const why = noSuchDay(text);
  return `"${text}" is not a day or a time${why === undefined ? '' : ` (${why})`}. Use a form such as 2026-11-21, 2026-11-21T02:00, 2026-11-21T01:00Z, 02:00 or yesterday.`;
}

/** The first or the last instant of what a text names. Also accepts `3d`: so long ago. */
export function edgeOf(text: string, zone: string, now: number, edge: keyof Span): number | undefined {
  const ago = parseDuration(text);
  if (ago !== undefined) return now - ago;
  const spans = spansOf(text, zone, now);
  return edge === 'from' ? spans?.[0]?.from : spans?.at(-1)?.to;
}

const midnight = (wall: number): number => Math.floor(wall / DAY_MS) * DAY_MS;

/** `Date` reads `2026-02-30` as the second of March. */
const isDay = (day: string): boolean => noSuchDay(day) === undefined;

const dayFrom = (wall: number, zone: string): Span => ({
  from: firstAt(zone, wall),
  to: firstAt(zone, wall + DAY_MS) - 1,
});

const minuteFrom = (at: number): Span => ({ from: at, to: at + MINUTE_MS - 1 });

// Where scheduled times on days of a blackout are moved (`schedule.on_blackout`); pure.
//
// Days are counted from 1970, as calendars in the schedule's zone show them. A workday is a day from Monday
// to Friday that is not blacked out.

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
