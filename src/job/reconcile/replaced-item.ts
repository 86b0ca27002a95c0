/**
 * Items that the service replaces (`replaces` in the contract), such as an invitation that is sent again: they get a new
 * id. What lasts is the value of another field. Only a hash of it is stored, because it can be an address.
 */
import { pathParameters } from '../../contract/operation.ts';
import { type OperationId, operationIds, operationOf } from '../../contract/operations.ts';
import { type CandidateSource, isList } from '../candidates.ts';
import type { Items } from '../job.ts';
import { shown } from '../shown.ts';
import type { Source } from '../source.ts';
import { mailId } from './find-effect.ts';
import type { Looking } from './own-effect.ts';

/** What an item is known by, whatever its id: a hash of the value of the field that lasts. */
export const lastingId = (value: string): string => mailId('lasting', value);

/** How items with this path parameter are replaced; undefined when none is. */
function replacementOf(parameter: string | undefined) {
  const id = operationIds.find(
    (one) => operationOf(one).replaces && pathParameters(operationOf(one).path).at(-1) === parameter,
  );
  return id && operationOf(id).replaces;
}

const replacedIn = (from: CandidateSource) =>
  operationIds.map((id) => operationOf(id).replaces).find((one) => isList(from) && one?.list === from);

/**
 * What a candidate is known by, whatever its id; undefined for one that keeps its id.
 *
 * @throws {NotShownError} when the item does not show it.
 */
export function lastingIdOf({ from, subject }: Source, items: Items): string | undefined {
  const { by } = replacedIn(from) ?? {};
  if (by === undefined) return undefined;
  return lastingId(String(shown((items[subject] as Record<string, unknown>)[by], `${subject}.${by}`)));
}

type Input = Readonly<Record<string, unknown>>;

/**
 * What replaced the item of a call whose id is gone, with the input for it; or its status, when that is no longer the one
 * in which it is replaced. Undefined when it is not there. One request per 100 items.
 */
export async function findReplacement(
  { all }: Pick<Looking, 'all'>,
  operation: OperationId,
  input: Input,
  { id, lasting }: { id: string; lasting: string | undefined },
): Promise<{ is: 'replaced'; input: Input } | { is: 'other'; status: string } | undefined> {
  const parameter = pathParameters(operationOf(operation).path).at(-1) ?? '';
  const replacement = replacementOf(parameter);
  if (!replacement || lasting === undefined || input[parameter] !== id) return undefined;
  for await (const item of all(replacement.list as 'listTeamMembers', {})) {
    const value = (item as Input)[replacement.by];
    if (typeof value !== 'string' || lastingId(value) !== lasting) continue;
    const { status = 'not shown' } = item;
    return status === replacement.status
      ? { is: 'replaced', input: { ...input, [parameter]: item.id } }
      : { is: 'other', status };
  }
  return undefined;
}
