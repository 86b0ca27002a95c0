/** Completes items of lists from their single views, when a decision needs what the list does not show. */
import { GoneError, RejectedError } from '../../client/errors.ts';
import { type CandidateList, singleViewOf } from '../../job/candidates.ts';
import { completed } from '../../job/shown.ts';
import { fieldsOfSource } from '../../job/source.ts';
import { callOptionsOf, type Planning } from './planning.ts';

/**
 * The item of this list with what only its single view shows; the item itself when there is none, or when
 * the plan has requested enough of them. `within` are the path parameters of the list. Costs one request.
 *
 * @throws the client's errors, except those that say that the item is gone or refused.
 */
export type Complete = (list: CandidateList, item: unknown, within: Params) => Promise<unknown>;
/** Path parameters. */
export type Params = Readonly<Record<string, string>>;

/** The items of a plan share the number of single views. */
export function createCompleter(planning: Planning): Complete {
  const { views } = planning;
  return async (list, item, within) => {
    const view = singleViewOf(list);
    const { id } = item as { id?: unknown };
    if (!view || typeof id !== 'string' || views.left === 0) return item;
    views.left -= 1;
    try {
      const input = { ...within, [view.parameter]: id } as never;
      const answer: unknown = await planning.client.call(view.operation, input, callOptionsOf(planning));
      return completed(fieldsOfSource(list), item, Object.values(answer as object)[0]);
    } catch (error) {
      if (error instanceof GoneError || error instanceof RejectedError) return item;
      throw error;
    }
  };
}
