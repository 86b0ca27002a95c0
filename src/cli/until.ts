/** When something that people ask for is to end. */
import { parseDuration } from '../settings/duration.ts';
import { UsageError } from './exit.ts';
import { moment } from './show-run.ts';

export interface UntilOptions {
  until?: string;
  for?: string;
}

/**
 * The moment: `--until` takes a moment or a duration, `--for` a duration. Nothing when neither is given.
 *
 * @throws {UsageError} for what is neither, or is over already.
 */
export function endOf(options: UntilOptions, now: number): number | undefined {
  if (options.until !== undefined && options.for !== undefined)
    throw new UsageError('Give either --until or --for.');
  if (options.for !== undefined) {
    const ms = parseDuration(options.for);
    if (!ms) throw new UsageError(`--for takes a duration such as 3d or 1h30m; not "${options.for}".`);
    return now + ms;
  }
  if (options.until === undefined) return undefined;
  const ms = parseDuration(options.until);
  const until = ms === undefined ? Date.parse(options.until) : now + ms;
  if (Number.isNaN(until))
    throw new UsageError(
      `--until takes a moment or a duration, such as 2026-12-01, 2026-12-01T08:00Z or 3d; not "${options.until}".`,
    );
  if (until <= now)
    throw new UsageError(`--until takes a moment that is still to come; ${moment(until)} is not.`);
  return until;
}
