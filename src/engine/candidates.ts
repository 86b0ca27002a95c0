/**
 * Planning without effects: what a policy would work on, and why everything else is left out.
 *
 * Filters and sort go to the service; `where` and the job's own eligibility are judged here, candidate by candidate,
 * so that a plan of any size passes through memory a page at a time.
 */
import type { Client } from '../client/client.ts';
import { allItems } from '../client/pages.ts';
import type { Input, ListId } from '../contract/operations.ts';
import { operationOf } from '../contract/operations.ts';
import type { AnyJob } from '../job/job.ts';
import type { Policy } from '../policy/policy.ts';
import { compileWhereOf } from '../policy/where.ts';

/** One candidate and what the plan makes of it: a target, a target that cannot be worked on, or none. */
export type Planned =
  | { is: 'target'; id: string; label: string }
  | { is: 'unfit'; id: string; label: string; why: string }
  | { is: 'left-out'; id: string; label: string; why: string };

export interface Planning {
  policy: Policy;
  job: AnyJob;
  client: Client;
  /** Only these targets, when given; `whatever` the policy selects by now (a retry), or among what it selects. */
  only?: { ids: readonly string[]; whatever: boolean } | undefined;
  now: number;
  /** Whether a person waits for it or a run does. */
  priority: 'person' | 'action';
  onRequest: () => void;
  signal?: AbortSignal;
}

/** Up to so many targets asked for by name are looked up one by one; more are picked out of the whole list. */
const FEW = 10;

/**
 * Goes through the candidates in the order asked for, until `select.limit` targets are found.
 *
 * Costs one request per 100 candidates that the filters let through, or one per target asked for by name.
 *
 * @throws the client's errors; and `WhereError` when `where` cannot be evaluated on a candidate.
 */
export async function* candidates(planning: Planning): AsyncGenerator<Planned> {
  const { policy, job, only } = planning;
  const limit = only ? undefined : policy.select.limit;
  const wanted = only && new Set(only.ids);
  const judge = judgeOf(planning);
  let found = 0;
  for await (const candidate of listed(planning)) {
    const named: { id: string; label: string } = job.target(candidate as never);
    if (wanted && !wanted.delete(named.id)) continue;
    const planned = judge(candidate, named);
    yield planned;
    if (planned.is === 'target') found += 1;
    if (found === limit || wanted?.size === 0) return;
  }
  // Whoever asks for a target by name is told what became of it, even when there is no such thing.
  for (const id of wanted ?? []) {
    yield {
      is: 'unfit',
      id,
      label: id,
      why: 'It is not in the account, or not among what the policy selects.',
    };
  }
}

/** What the plan makes of a candidate. One that was asked for by name is never silently left out. */
function judgeOf({ policy, job, only, now }: Planning) {
  const { where } = policy.select;
  const condition = where === undefined || only?.whatever ? undefined : compileWhereOf(job, where);
  const at = new Date(now);
  return (candidate: unknown, named: { id: string; label: string }): Planned => {
    if (condition && !condition.test(candidate, at)) {
      const why = 'select.where does not hold';
      return only ? { is: 'unfit', ...named, why: `${why}.` } : { is: 'left-out', ...named, why };
    }
    const why = job.unfit?.(candidate as never, policy.options);
    return why === undefined ? { is: 'target', ...named } : { is: 'unfit', ...named, why };
  };
}

async function* listed({
  policy,
  job,
  client,
  only,
  priority,
  onRequest,
  signal,
}: Planning): AsyncGenerator<unknown> {
  const { sort, timezone } = policy.select;
  const filters = only?.whatever ? {} : policy.select.filters;
  const id: ListId = job.candidates;
  const call = (query: object) =>
    client.call(id, query as Input<typeof id>, { priority, onRequest, ...(signal ? { signal } : {}) });
  const asked = { ...(sort ? { sort } : {}), ...(timezone ? { timezone } : {}) };
  const byId = operationOf(id).list?.filters['id']?.operators.includes('eq') === true;
  if (only && only.ids.length <= FEW && byId) {
    for (const one of only.ids) {
      yield* allItems(id, (page) => call({ ...asked, ...page, filters: { ...filters, id: { eq: one } } }));
    }
    return;
  }
  yield* allItems(id, (page) => call({ ...asked, ...page, filters }));
}

/**
 * How many items the job's list has in all, whatever the policy's filters: what `limits.max_percent` is a share of.
 * Costs one request.
 */
export async function countAll({ job, client, priority, onRequest }: Planning): Promise<number> {
  const id: ListId = job.candidates;
  const query = { perPage: 1 } as Input<typeof id>;
  const answer = (await client.call(id, query, { priority, onRequest })) as {
    meta?: { pagination?: { totalItems?: number } };
  };
  return answer.meta?.pagination?.totalItems ?? 0;
}
