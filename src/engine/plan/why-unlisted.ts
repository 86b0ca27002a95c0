/** Why a requested item is not among the candidates: it is not in the account, or a filter of the policy leaves it out. */
import { type Input, operationOf } from '../../contract/operations.ts';
import { type CandidateList, isList, labelOf, parentIdIn } from '../../job/candidates.ts';
import { candidatesOf } from '../../job/source.ts';
import type { Select } from '../../policy/policy.ts';
import { MAX_LOOKUPS_BY_ID } from './listing.ts';
import { callOptionsOf, type Planning } from './planning.ts';

export interface Unlisted {
  /** It is in the account. */
  isThere: boolean;
  label: string;
  why: string;
}

/**
 * Tells it for each of these ids, as far as the service can be asked for an item by its id. Costs one request for each of
 * them, and one more for each filter; nothing for a retry, which has no filters, and for more than ten ids.
 */
export async function whyUnlisted(
  planning: Planning,
  ids: readonly string[],
): Promise<Map<string, Unlisted>> {
  const { policy, job, again, retry, client } = planning;
  const { forEach } = policy.select;
  const list = forEach?.list ?? candidatesOf(job, policy.select);
  if (again || retry || ids.length > MAX_LOOKUPS_BY_ID || !isList(list) || !canAskForId(list))
    return new Map();
  const first: First = async (filters) => {
    const input = { filters, perPage: 1 } as Input<typeof list>;
    const answer = await client.call(list, input, callOptionsOf(planning));
    return (Reflect.get(answer as object, operationOf(list).list?.key ?? '') as object[])[0];
  };
  const { filters } = forEach ?? policy.select;
  const at = `select.${forEach ? 'for_each.' : ''}filters`;
  const found = new Map<string, Unlisted>();
  for (const id of ids) {
    const own = parentIdIn(id) ?? id;
    const item = await first({ id: { eq: own } });
    const failing = item ? await unmetBy(own, filters, first) : [];
    if (!item) found.set(id, { isThere: false, label: id, why: 'It is not in the account.' });
    else if (failing.length > 0) {
      const why = `It is in the account; ${at} leaves it out: ${failing.join('; ')}.`;
      found.set(id, { isThere: true, label: labelOf(item), why });
    }
  }
  return found;
}

/** The first item that meets these filters. */
type First = (filters: Select['filters']) => Promise<object | undefined>;

/** The filters that an item does not meet. */
async function unmetBy(id: string, filters: Select['filters'], first: First): Promise<string[]> {
  const failing: string[] = [];
  for (const [field, operator, value] of conditionsOf(filters)) {
    const isMet =
      field === 'id' ? value === id : await first({ id: { eq: id }, [field]: { [operator]: value } });
    if (!isMet) failing.push(`${field} ${operator} ${[value].flat().join(', ')}`);
  }
  return failing;
}

const conditionsOf = (filters: Select['filters']) =>
  Object.entries(filters).flatMap(([field, conditions]) =>
    Object.entries(conditions).map(([operator, value]) => [field, operator, value] as const),
  );

const canAskForId = (list: CandidateList): boolean =>
  operationOf(list).list?.filters['id']?.operators.includes('eq') === true;
