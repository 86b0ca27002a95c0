/** The targets that a plan is limited to, when only some were requested by their ids. */
import { type Input, operationOf } from '../../contract/operations.ts';
import { type CandidateList, isList, labelOf, parentIdIn } from '../../job/candidates.ts';
import type { AnyJob } from '../../job/job.ts';
import { candidatesOf } from '../../job/source.ts';
import type { Select } from '../../policy/policy.ts';
import { MAX_LOOKUPS_BY_ID, type Parent } from './listing.ts';
import { callOptionsOf, type EarlierPlan, notEligible, type Planned, type Planning } from './planning.ts';

// Why a requested item is not among the candidates: it is not in the account, or a filter of the policy leaves it out.

interface Unlisted {
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

export class Requested {
  private readonly left: Set<string>;

  constructor(
    private readonly ids: readonly string[],
    earlier?: EarlierPlan,
  ) {
    this.left = new Set(ids);
    // The result of an item that was processed is planned. Without a result, its own list was read to its end.
    for (const id of [...(earlier?.planned ?? []), ...(earlier?.given ?? [])]) this.left.delete(id);
  }

  /** Whether the target was requested, by its own id or by that of what it belongs to. */
  takes({ id }: { id: string }, parent?: Parent): boolean {
    return this.left.delete(id) || (parent !== undefined && this.ids.includes(parent.id));
  }

  /** Notes a parent whose list was read to its end. */
  noteRead({ id }: Parent): void {
    this.left.delete(id);
  }

  /** What becomes of those that belong to a parent whose list was not read. */
  *unread(parent: Planned): Generator<Planned> {
    const why = parent.is === 'ended' ? parent.end.detail : undefined;
    for (const id of this.left) {
      if ((parentIdIn(id) ?? id) !== parent.id) continue;
      this.left.delete(id);
      if (why === undefined) yield notSelected(id, NOT_SELECTED);
      else yield { is: 'ended', id, label: id, end: notEligible(why) };
    }
  }

  /** Those that were not found so far. */
  get missing(): readonly string[] {
    return [...this.left];
  }

  get isComplete(): boolean {
    return this.left.size === 0;
  }

  /** The ids that were not found: every requested id is reported. */
  *rest(job: AnyJob, known: ReadonlyMap<string, Unlisted>): Generator<Planned> {
    for (const id of this.left) {
      const found = known.get(id);
      // What such a job reports need not be an item of the list.
      if (found && !(job.extraTargets && !found.isThere))
        yield { ...notSelected(id, found.why), label: found.label };
      else if (job.extraTargets) yield notSelected(id, NOTHING_TO_REPORT);
      else yield notSelected(id, NOT_SELECTED);
    }
  }
}

const NOTHING_TO_REPORT =
  'It is not in the account, the policy does not select it, or the job has nothing to report about it.';
const NOT_SELECTED = 'It is not in the account, or the policy does not select it.';

const notSelected = (id: string, why: string): Planned => ({
  is: 'ended',
  id,
  label: id,
  end: notEligible(why),
  unselected: true,
});
