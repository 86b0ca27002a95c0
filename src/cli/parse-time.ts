/** The times of options: `--at`, `--since`, and `--until` or `--for`, when a pause or a freeze ends. */
import { isoMinute, isoTime } from '../clock.ts';
import { noSuchDay } from '../dates.ts';
import { parseDuration } from '../yaml/duration.ts';
import { parseFuture, parsePast, parseTime } from '../yaml/written-time.ts';
import { UsageError } from './exit.ts';

export interface UntilOptions {
  until?: string;
  for?: string;
}

/** Why a text is not a valid time, if known: ` (February 2026 has 28 days)`, ` (name the day too: today 14:45)`. */
export function dayNote(text: string): string {
  const isClock = /^(?:[01]\d|2[0-3]):[0-5]\d(?![\d:])/.test(text);
  const why = isClock ? `name the day too: today ${text}` : noSuchDay(text);
  return why === undefined ? '' : ` (${why})`;
}

/**
 * `--at`, or another option for a time: as everywhere. Undefined when it is not given.
 *
 * @throws {UsageError}
 */
export function atOf(text: string | undefined, now: number, option = '--at'): number | undefined {
  if (text === undefined) return undefined;
  const at = parseTime(text, now);
  if (at === undefined)
    throw new UsageError(
      `${option} must be a time such as 2026-12-01, 2026-12-01T08:00Z or tomorrow 08:00, not "${text}"${dayNote(text)}.`,
    );
  return at;
}

/**
 * The end time. `--until` takes a time or a duration, `--for` a duration. Undefined when neither is given.
 *
 * @throws {UsageError} when the value is invalid or in the past.
 */
export function endOf(options: UntilOptions, now: number): number | undefined {
  if (options.until !== undefined && options.for !== undefined)
    throw new UsageError('Use either --until or --for, not both.');
  if (options.for !== undefined) {
    const ms = parseDuration(options.for);
    if (!ms) throw new UsageError(`--for must be a duration such as 3d or 1h30m, not "${options.for}".`);
    return now + ms;
  }
  if (options.until === undefined) return undefined;
  const until = parseFuture(options.until, now);
  if (until === undefined)
    throw new UsageError(
      `--until must be a time or a duration, such as 2026-12-01, 2026-12-01T08:00Z, tomorrow or 3d, not "${options.until}"${dayNote(options.until)}.`,
    );
  if (until <= now) throw new UsageError(`--until must be in the future; ${isoMinute(until)} is not.`);
  return until;
}

/**
 * The same as the commands of `control` take it. A duration stays one, so that it counts from the time of the act.
 *
 * @throws {UsageError} when the value is invalid or in the past.
 */
export function endText(options: UntilOptions, now: number): string | undefined {
  const end = endOf(options, now);
  const given = options.for ?? options.until;
  return end === undefined || given === undefined || parseDuration(given) !== undefined
    ? given
    : isoTime(end);
}

/**
 * `--since`, or another option for a time or a duration before now. Undefined when it is not given.
 *
 * @throws {UsageError}
 */
export function sinceOf(text: string | undefined, now: number, option = '--since'): number | undefined {
  if (text === undefined) return undefined;
  const since = parsePast(text, now);
  if (since === undefined)
    throw new UsageError(
      `${option} must be a duration or a time, such as 3d, 12h, yesterday, 2026-11-01 or 2026-11-01T08:00Z, not "${text}"${dayNote(text)}.`,
    );
  return since;
}

/** The same as the commands of `control` take it. @throws {UsageError} */
export function sinceText(text: string | undefined, now: number, option?: string): string | undefined {
  const at = sinceOf(text, now, option);
  return at === undefined ? undefined : isoTime(at);
}
