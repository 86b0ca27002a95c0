/** A run as the fields of its hash in Redis, and back. */

import { OPERATION } from '../redis/store.ts';
import type { Counts, Held, Run, RunStatus, Spent } from '../run/run.ts';

const countNames = [
  'planned',
  'succeeded',
  'failed',
  'skipped',
  'cancelled',
] as const satisfies (keyof Counts)[];

/** A run as the fields of its hash: what changes stands alone, so that scripts can count on it. */
export function flat({
  counts,
  planComplete,
  cancelTasks,
  requestsByOperation,
  plan,
  spread: _written,
  held,
  ...rest
}: Run): Record<string, string | number> {
  const fields: Record<string, string | number> = { ...counts };
  for (const [name, value] of Object.entries(rest)) if (value !== undefined) fields[name] = value;
  if (planComplete) fields['planComplete'] = 1;
  if (cancelTasks) fields['cancelTasks'] = 1;
  if (held) fields['held'] = JSON.stringify(held);
  if (plan) Object.assign(fields, { planRequests: plan.requests, planTargets: plan.targets });
  for (const [operation, count] of Object.entries(requestsByOperation ?? {}))
    fields[`${OPERATION}${operation}`] = count;
  return fields;
}

export function fromHash(hash: Record<string, string>): Run | undefined {
  if (!hash['id']) return undefined;
  const text = (name: string) => hash[name] ?? '';
  const number = (name: string) => Number(hash[name] ?? 0);
  const counts = Object.fromEntries(countNames.map((name) => [name, number(name)])) as unknown as Counts;
  const optional = {
    ...numbers(hash, 'startedAt', 'finishedAt', 'deadline'),
    ...(hash['planComplete'] ? { planComplete: true as const } : {}),
    ...(hash['detail'] ? { detail: hash['detail'] } : {}),
    ...(hash['ending'] ? { ending: hash['ending'] as NonNullable<Run['ending']> } : {}),
    ...(hash['cancelTasks'] ? { cancelTasks: true as const } : {}),
    ...(hash['spreadMs']
      ? { spread: { from: number('spreadFrom'), ms: number('spreadMs'), targets: number('spreadOf') } }
      : {}),
    ...(hash['retryOf'] ? { retryOf: hash['retryOf'] } : {}),
    ...(hash['held'] ? { held: JSON.parse(hash['held']) as Held } : {}),
  };
  return {
    id: text('id'),
    policy: text('policy'),
    job: text('job'),
    account: text('account'),
    status: text('status') as RunStatus,
    trigger: text('trigger') as Run['trigger'],
    scheduledFor: number('scheduledFor'),
    createdAt: number('createdAt'),
    requests: number('requests'),
    ...spentOf(hash),
    ...planOf(hash),
    counts,
    policyJson: text('policyJson'),
    policyHash: text('policyHash'),
    ...optional,
  };
}

function planOf(hash: Record<string, string>): { plan?: { requests: number; targets: number } } {
  const { planRequests, planTargets } = hash;
  if (planRequests === undefined || planTargets === undefined) return {};
  return { plan: { requests: Number(planRequests), targets: Number(planTargets) } };
}

function spentOf(hash: Record<string, string>): { requestsByOperation?: Spent } {
  const spent = Object.entries(hash)
    .filter(([field]) => field.startsWith(OPERATION))
    .map(([field, count]) => [field.slice(OPERATION.length), Number(count)] as const)
    .sort(([a, many], [b, more]) => more - many || (a < b ? -1 : 1));
  return spent.length === 0 ? {} : { requestsByOperation: Object.fromEntries(spent) };
}

function numbers<N extends string>(hash: Record<string, string>, ...names: N[]): { [K in N]?: number } {
  const found: { [K in N]?: number } = {};
  for (const name of names) if (hash[name] !== undefined) found[name] = Number(hash[name]);
  return found;
}
