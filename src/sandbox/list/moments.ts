/** Moments as filters give them: with an offset, or as local time or a day in a timezone (spec 4.1). */
import { malformed } from '../refusal.ts';

const MINUTE = 60_000;

/** @throws {Refusal} 400 unless the name is one this machine knows. */
export function requireTimezone(name: string): void {
  try {
    wallClock(name);
  } catch {
    throw malformed(`there is no timezone "${name}"`);
  }
}

/**
 * The moments a filter's value stands for, first and last: one and the same, or for a plain day the whole
 * day.
 *
 * So `created_at:lte=2026-11-21` includes that day (our choice; the spec shows no plain days for timestamps).
 */
export function timestampsOf(value: string, timezone: string): { first: number; last: number } {
  if (/(Z|[+-]\d{2}:\d{2})$/i.test(value)) {
    const at = Date.parse(value);
    return { first: at, last: at };
  }
  if (value.includes('T')) {
    const at = inTimezone(value, timezone);
    return { first: at, last: at };
  }
  const nextDay = new Date(Date.parse(value) + 24 * 60 * MINUTE).toISOString().slice(0, 10);
  return {
    first: inTimezone(`${value}T00:00:00`, timezone),
    last: inTimezone(`${nextDay}T00:00:00`, timezone) - 1,
  };
}

/**
 * The moment at which clocks in the timezone show `local`. In an hour that DST skips: the moment of the
 * change or after.
 */
function inTimezone(local: string, timezone: string): number {
  const shown = Date.parse(`${local}Z`);
  // The offset at the guess may be that of the other side of a DST change; a second look settles it.
  const guess = shown - offsetAt(shown, timezone);
  return shown - offsetAt(guess, timezone);
}

/** How far clocks in the timezone are ahead of UTC at a moment, in milliseconds. */
function offsetAt(at: number, timezone: string): number {
  if (timezone === 'UTC') return 0;
  const parts = wallClock(timezone).formatToParts(at);
  const part = (type: string) => Number(parts.find((one) => one.type === type)?.value);
  const shown = Date.UTC(
    part('year'),
    part('month') - 1,
    part('day'),
    part('hour'),
    part('minute'),
    part('second'),
  );
  return shown - Math.floor(at / 1000) * 1000;
}

/** The day that calendars in the timezone show at a moment: YYYY-MM-DD. */
export function dayIn(at: number, timezone: string): string {
  return new Date(at + offsetAt(at, timezone)).toISOString().slice(0, 10);
}

const wallClock = (timeZone: string) =>
  new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
