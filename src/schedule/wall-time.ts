/** Days and times as people write them, in a policy's time zone. */
import { DAY_MS, firstAt, isoDay, localTimeOf, MINUTE_MS, noSuchDay, offsetAt } from '../dates.ts';
import { parseDuration } from '../yaml/duration.ts';

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
