/** Durations in configuration and policy files: `90s`, `10m`, `2h`, `90d`, or combined: `1h30m`. */
import { z } from 'zod';

const units = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1000 } as const;
const written = /^(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?$/;
/** One hundred years. A longer duration is an error, and would overflow timers and Redis. */
const MAX_MS = 36_500 * units.d;

/** Parses a duration into milliseconds; undefined when `text` is not a duration. */
export function parseDuration(text: string): number | undefined {
  const match = written.exec(text);
  if (!match || text === '') return undefined;
  const amounts = match.slice(1).map((digits) => Number(digits ?? 0));
  const ms = Object.values(units).reduce((sum, unit, i) => sum + unit * (amounts[i] ?? 0), 0);
  return ms <= MAX_MS ? ms : undefined;
}

/** Formats milliseconds as a duration: 5,400,000 is `1h30m`. Fractions of a second are omitted. */
export function formatDuration(ms: number): string {
  let left = ms;
  const parts = Object.entries(units).map(([letter, unit]) => {
    const amount = Math.floor(left / unit);
    left -= amount * unit;
    return amount > 0 ? `${amount}${letter}` : '';
  });
  return parts.join('') || '0s';
}

/** The form of a duration for a JSON Schema. The maximum, and a minimum other than 0, are not a part of it. */
const patternFor = (minMs: number): string => `^(?=${minMs > 0 ? '.*[1-9]' : '.'})${written.source.slice(1)}`;

const expected = 'must be a duration such as 30s, 10m, 2h, 1h30m or 90d';

/**
 * The schema of a duration, parsed into milliseconds. Only 0 needs no unit. For any other number it would be
 * unclear whether seconds or minutes are meant.
 *
 * `minMs` is the minimum. Default 0.
 */
export const duration = (minMs = 0) => {
  const pattern = patternFor(minMs);
  const hasForm = (value: string | number) =>
    typeof value === 'string' ? new RegExp(pattern).test(value) : value === 0 && minMs === 0;
  return z
    .union([z.string(), z.number()], { error: expected })
    .transform((value, context) => {
      const ms = value === 0 ? 0 : parseDuration(String(value));
      if (ms !== undefined && ms >= minMs) return ms;
      const seconds = /^\d+$/.test(String(value)) ? Number(value) : undefined;
      const isTooShort = ms !== undefined || (seconds !== undefined && seconds * 1_000 < minMs);
      const bare = seconds === undefined || isTooShort ? '' : `; for ${seconds} seconds write ${seconds}s`;
      const minimum = isTooShort ? ` of at least ${formatDuration(minMs)}` : '';
      context.addIssue({
        code: 'custom',
        message: `${expected}${minimum}${bare}`,
        params: { form: !hasForm(value) },
      });
      return z.NEVER;
    })
    .meta({
      title: 'duration',
      anyOf: [
        { type: 'string', pattern, patternErrorMessage: `The value ${expected}.` },
        ...(minMs > 0 ? [] : [{ const: 0 }]),
      ],
      examples: ['30s', '10m', '2h', '1h30m', '90d'],
    });
};
