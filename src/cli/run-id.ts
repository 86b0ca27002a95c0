/** Finds a run by its id, the beginning of its id, or `last`. */
import type { Records } from '../records/records.ts';
import type { Run } from '../run/run.ts';
import { UsageError } from './exit.ts';

/** The maximum number of runs that are searched for one that was not skipped. */
const MAX_SEARCHED = 100;
/** The maximum number of ids that are listed when a prefix is ambiguous. */
const MAX_LISTED = 10;

/**
 * Returns the run that `word` identifies. If it is not a complete id, the ids of all runs are searched.
 * `last` is the newest run that was not skipped: a skipped run did nothing, so the run that was active then
 * is meant.
 *
 * @throws {UsageError} when there is no such run, or when several ids start with `word`.
 */
export async function runNamed({ runs }: Records, word: string): Promise<Run> {
  const [exact, newest] = await Promise.all([
    runs.get(word),
    word === 'last' ? runs.list({ limit: MAX_SEARCHED }) : Promise.resolve([]),
  ]);
  const meant = exact ?? newest.find(({ status }) => status !== 'skipped') ?? newest[0];
  if (meant) return meant;
  if (word === 'last') throw noRuns();
  const ids = await runs.startingWith(word, MAX_LISTED + 1);
  const [first] = ids;
  const only = ids.length === 1 && first !== undefined ? await runs.get(first) : undefined;
  if (only) return only;
  throw notOne(word, ids);
}

export const noRuns = (): UsageError =>
  new UsageError('There are no runs yet. "caretaker run <policy>" starts one.');

/** `ids`: those that begin with the word, none or several. */
export function notOne(word: string, ids: readonly string[]): UsageError {
  if (ids.length === 0) return new UsageError(`There is no run "${word}". "caretaker runs" lists them.`);
  const listed = ids.slice(0, MAX_LISTED).join('\n  ');
  const more = ids.length > MAX_LISTED ? '\n  ...' : '';
  return new UsageError(`Several runs start with "${word}". Give a longer id:\n  ${listed}${more}`);
}
