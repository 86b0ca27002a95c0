/**
 * Calendar days, time zones, and local times in them, by the time zone database of Node.
 *
 * A day is written `2026-11-21`. A wall time is what a clock in a zone shows, as the milliseconds since 1970
 * that it would be in UTC. Most wall times occur once; when clocks change, some are skipped and some occur
 * twice. Instants are written in `clock.ts`.
 */
export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

/** The day of an instant in UTC: `2026-11-21`. */
export const isoDay = (at: number): string => new Date(at).toISOString().slice(0, 10);

/** The day this many days after another one; before it when `days` is negative. */
export const daysAfter = (day: string, days: number): string => isoDay(Date.parse(day) + days * DAY_MS);

/** The day that calendars in a time zone show at an instant. */
export const dayIn = (zone: string, at: number): string => isoDay(at + offsetAt(zone, at));

/**
 * The first instant of a day in a time zone, also where clocks skip midnight. For a day that the zone skipped
 * altogether: the first instant of the next day.
 */
export const startOfDay = (zone: string, day: string): number => firstAt(zone, Date.parse(day));

/** Why a text written as a day, or a time that begins with one, names none: `February 2026 has 28 days`. */
export function noSuchDay(text: string): string | undefined {
  const [, year = '', month = '', day = ''] = /^(\d{4})-(\d{2})-(\d{2})(?!\d)/.exec(text) ?? [];
  if (year === '') return undefined;
  if (Number(month) < 1 || Number(month) > 12) return `there is no month ${month}`;
  const last = new Date(Date.UTC(Number(year), Number(month), 0));
  const days = last.getUTCDate();
  if (Number(day) >= 1 && Number(day) <= days) return undefined;
  const name = new Intl.DateTimeFormat('en', { month: 'long', timeZone: 'UTC' }).format(last);
  return `${name} ${year} has ${days} days`;
}

/** A day in another order or with other marks than ours: `25.12.2026`, `2026/12/25`, `2026-2-3`. */
export const isOtherwiseWritten = (text: string): boolean =>
  /^\d{1,4}[-./]\d{1,2}[-./]\d{1,4}$/.test(text) && !/^\d{4}-\d{2}-\d{2}$/.test(text);

/** The time zone of this machine; UTC, as Node counts, where TZ names none (`TZ=''`). */
export function localTimezone(name = Intl.DateTimeFormat().resolvedOptions().timeZone): string {
  return name && isTimezone(name) ? name : 'UTC';
}

/** Whether Node knows a time zone of this name, or takes it as an offset. */
export function isTimezone(name: string): boolean {
  try {
    wallClockOf(name);
    return true;
  } catch {
    return false;
  }
}

/** Node takes some of them, and not as one expects: BST as the time of Dhaka. The others are names of zones. */
const abbreviation = /^(?!(?:UTC|UCT|GMT|[EHM]ST|[CEMW]ET|PRC|RO[CK])$)[A-Z]{3}$/i;

/** A few words about what is wrong with the name of a time zone; nothing when it exists. */
export const timezoneFault = (timezone: string): string | undefined =>
  // Only newer versions of Node accept offsets such as +02:00, and an offset knows no daylight saving time.
  /^[A-Za-z]/.test(timezone) && !abbreviation.test(timezone) && isTimezone(timezone)
    ? undefined
    : 'must be the name of a time zone such as Europe/Berlin';

/** When a wall time occurs. `changeAt` is the first instant of the new time. */
export type LocalTime =
  | { is: 'once'; at: number }
  | { is: 'skipped'; changeAt: number }
  | { is: 'twice'; first: number; last: number };

/** How many days of a zone are cached: a year of daily runs, read from both sides. */
const MAX_DAYS = 1_000;

/** Formatters by zone: creating one takes far longer than using it. */
const wallClocks = new Map<string, Intl.DateTimeFormat>();
const offsets = new Map<string, Map<number, number>>();

/** @throws {RangeError} when Node does not know the zone. */
function wallClockOf(zone: string): Intl.DateTimeFormat {
  let clock = wallClocks.get(zone);
  if (!clock) {
    clock = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      calendar: 'gregory',
      numberingSystem: 'latn',
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
    wallClocks.set(zone, clock);
  }
  return clock;
}

/** What the zone's clocks show at an instant, less that instant: one hour in Berlin's winter. */
export function offsetAt(zone: string, at: number): number {
  if (zone === 'UTC') return 0;
  const second = Math.floor(at / 1000) * 1000;
  const [month = 0, day = 0, year = 0, hour = 0, minute = 0, seconds = 0] = wallClockOf(zone)
    .format(second)
    .split(/[/,: ]+/)
    .map(Number);
  return Date.UTC(year, month - 1, day, hour, minute, seconds) - second;
}

/** When a wall time occurs in a zone. Costs two reads of a cache, and some more around a change of clocks. */
export function localTimeOf(zone: string, wall: number): LocalTime {
  const day = Math.floor(wall / DAY_MS);
  const [before, after] = [offsetOn(zone, day - 1), offsetOn(zone, day + 2)];
  // Two changes of a zone are always more than three days apart.
  if (before === after) return { is: 'once', at: wall - before };
  const changeAt = changeBetween(zone, (day - 1) * DAY_MS, (day + 2) * DAY_MS);
  const [byOld, byNew] = [wall - before, wall - after];
  if (byOld < changeAt) {
    return byNew >= changeAt ? { is: 'twice', first: byOld, last: byNew } : { is: 'once', at: byOld };
  }
  return byNew >= changeAt ? { is: 'once', at: byNew } : { is: 'skipped', changeAt };
}

/** The first instant at which clocks in a zone show this wall time, or a later one where they skip it. */
export function firstAt(zone: string, wall: number): number {
  const local = localTimeOf(zone, wall);
  if (local.is === 'twice') return local.first;
  return local.is === 'once' ? local.at : local.changeAt;
}

/** The offset at midnight in UTC of a day, counted from 1970. */
function offsetOn(zone: string, day: number): number {
  if (zone === 'UTC') return 0;
  let known = offsets.get(zone);
  if (!known || known.size >= MAX_DAYS) {
    known = new Map();
    offsets.set(zone, known);
  }
  const offset = known.get(day) ?? offsetAt(zone, day * DAY_MS);
  known.set(day, offset);
  return offset;
}

/** The first instant after `from` that has the offset of `until`, to the second. */
function changeBetween(zone: string, from: number, until: number): number {
  const old = offsetAt(zone, from);
  let [inside, outside] = [from / 1000, until / 1000];
  while (outside - inside > 1) {
    const middle = Math.floor((inside + outside) / 2);
    if (offsetAt(zone, middle * 1000) === old) inside = middle;
    else outside = middle;
  }
  return outside * 1000;
}
