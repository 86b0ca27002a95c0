/** Lengths of time as people write them in our files: `90s`, `10m`, `2h`, `90d`, or put together: `1h30m`. */
import { z } from 'zod';

const units = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1000 } as const;
const written = /^(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?$/;
/** A hundred years: more is a slip of the finger, and would overflow what timers and Redis take. */
const longestMs = 36_500 * units.d;

/** The milliseconds of `text`, or nothing when it is not written as a duration. */
export function parseDuration(text: string): number | undefined {
  const match = written.exec(text);
  if (!match || text === '') return undefined;
  const amounts = match.slice(1).map((digits) => Number(digits ?? 0));
  const ms = Object.values(units).reduce((sum, unit, i) => sum + unit * (amounts[i] ?? 0), 0);
  return ms <= longestMs ? ms : undefined;
}

/** The shortest way to write `ms` as a duration: 5,400,000 is `1h30m`. Parts of a second are left out. */
export function formatDuration(ms: number): string {
  let left = ms;
  const parts = Object.entries(units).map(([letter, unit]) => {
    const amount = Math.floor(left / unit);
    left -= amount * unit;
    return amount > 0 ? `${amount}${letter}` : '';
  });
  return parts.join('') || '0s';
}

const says = 'must be a duration such as 30s, 10m, 2h, 1h30m or 90d';

/**
 * A duration in a file, read into milliseconds. Only 0 may stand without a unit: of any other bare number
 * nobody knows whether seconds or minutes were meant.
 *
 * `leastMs` is the shortest that makes sense; default 0.
 */
export const duration = (leastMs = 0) =>
  z
    .union([z.string(), z.number()], { error: says })
    .transform((value, context) => {
      const ms = value === 0 ? 0 : parseDuration(String(value));
      if (ms !== undefined && ms >= leastMs) return ms;
      const bare = /^\d+$/.test(String(value)) ? `; for ${value} seconds write ${value}s` : '';
      const least = ms === undefined ? '' : ` of at least ${formatDuration(leastMs)}`;
      context.addIssue({ code: 'custom', message: `${says}${least}${bare}` });
      return z.NEVER;
    })
    .meta({ title: 'duration' });
