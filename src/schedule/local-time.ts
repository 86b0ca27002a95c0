/**
 * Times of day in a time zone, by what Node knows of its clocks; pure.
 *
 * A wall time is what a clock on the wall shows, written as the milliseconds since 1970 that it would be in
 * UTC. Most wall times come once; when clocks change, some are skipped and some come twice.
 */

/** When a wall time comes. `changeAt` is the first instant of the new time. */
export type LocalTime =
  | { is: 'once'; at: number }
  | { is: 'skipped'; changeAt: number }
  | { is: 'twice'; first: number; last: number };

const DAY_MS = 86_400_000;
/** So many days of a zone are remembered: a year of daily firings, looked at from both sides. */
const MAX_DAYS = 1_000;

const clocks = new Map<string, Intl.DateTimeFormat>();
const days = new Map<string, Map<number, number>>();

/** What the zone's clocks show at an instant, less that instant: one hour in Berlin's winter. */
export function offsetAt(zone: string, moment: number): number {
  if (zone === 'UTC') return 0;
  let clock = clocks.get(zone);
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
    clocks.set(zone, clock);
  }
  const second = Math.floor(moment / 1000) * 1000;
  const [month = 0, day = 0, year = 0, hour = 0, minute = 0, seconds = 0] = clock
    .format(second)
    .split(/[/,: ]+/)
    .map(Number);
  return Date.UTC(year, month - 1, day, hour, minute, seconds) - second;
}

/**
 * When a wall time comes in a zone. Costs two looks into a small memory, and some more around a change of
 * clocks.
 */
export function localTimeOf(zone: string, wall: number): LocalTime {
  const day = Math.floor(wall / DAY_MS);
  const [before, after] = [offsetOn(zone, day - 1), offsetOn(zone, day + 2)];
  // Clocks that change come to rest for more than three days.
  if (before === after) return { is: 'once', at: wall - before };
  const changeAt = changeBetween(zone, (day - 1) * DAY_MS, (day + 2) * DAY_MS);
  const [byOld, byNew] = [wall - before, wall - after];
  if (byOld < changeAt) {
    return byNew >= changeAt ? { is: 'twice', first: byOld, last: byNew } : { is: 'once', at: byOld };
  }
  return byNew >= changeAt ? { is: 'once', at: byNew } : { is: 'skipped', changeAt };
}

/** The offset at midnight in UTC of a day, counted from 1970. */
function offsetOn(zone: string, day: number): number {
  if (zone === 'UTC') return 0;
  let known = days.get(zone);
  if (!known || known.size >= MAX_DAYS) {
    known = new Map();
    days.set(zone, known);
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
