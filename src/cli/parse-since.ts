import { parsePast } from '../yaml/written-time.ts';
import { UsageError } from './exit.ts';
import { dayNote } from './parse-end-time.ts';

/**
 * `--since`: a time, or a duration before now. Undefined when it is not given.
 *
 * @throws {UsageError}
 */
export function sinceOf(text: string | undefined, now: number): number | undefined {
  if (text === undefined) return undefined;
  const since = parsePast(text, now);
  if (since === undefined)
    throw new UsageError(
      `--since must be a duration or a time, such as 3d, 12h, yesterday, 2026-11-01 or 2026-11-01T08:00Z, not "${text}"${dayNote(text)}.`,
    );
  return since;
}
