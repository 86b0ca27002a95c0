/** Finds a run by its id, the beginning of its id, or `last`. */
import type { Records } from '../records/records.ts';
import type { Run } from '../run/run.ts';
import { UsageError } from './exit.ts';

/** At most so many runs are searched for one that was not skipped. */
const MAX_SEARCHED = 100;
/** So many are named when several could be meant. */
const MAX_NAMED = 10;

/**
 * The run that `word` names. Where it is not a whole id, the ids of all runs are looked through. `last` is
 * the newest that was not refused because another was under way: nothing can be done to that, and it is the
 * other that is meant.
 *
 * @throws {UsageError} when there is no such run, or when several begin so.
 */
export async function runNamed({ runs }: Records, word: string): Promise<Run> {
  const [exact, newest] = await Promise.all([
    runs.get(word),
    word === 'last' ? runs.list({ limit: MAX_SEARCHED }) : Promise.resolve([]),
  ]);
  const meant = exact ?? newest.find(({ status }) => status !== 'skipped') ?? newest[0];
  if (meant) return meant;
  if (word === 'last') throw new UsageError('There are no runs yet. "caretaker run <policy>" fires one.');
  const ids = await runs.startingWith(word, MAX_NAMED + 1);
  const [first] = ids;
  const only = ids.length === 1 && first !== undefined ? await runs.get(first) : undefined;
  if (only) return only;
  if (ids.length === 0) throw new UsageError(`There is no run "${word}". "caretaker runs" lists them.`);
  const named = ids.slice(0, MAX_NAMED).join('\n  ');
  const more = ids.length > MAX_NAMED ? '\n  ...' : '';
  throw new UsageError(`Several runs begin with "${word}"; which of them?\n  ${named}${more}`);
}
