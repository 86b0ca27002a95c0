/** The policies as a list: filtered, sorted, by the page, with the latest runs of those on the page. */
import { hasLabels, labelTexts } from '../../policy/labels.ts';
import type { Policy } from '../../policy/policy.ts';
import { type Pause, type PolicyState, pauseAt } from '../../records/policy-store.ts';
import { isFinal, shownStatus } from '../../run/moves.ts';
import type { Run } from '../../run/run.ts';
import { nextFiringAt } from '../../schedule/policy-report.ts';
import { shortFile } from '../../yaml/diagnostic.ts';
import type { Reader } from './reader.ts';

export const policyStates = ['active', 'paused', 'disabled', 'manual', 'failing'] as const;
/** What policies with the same value stand together by. */
export const policyGroups = ['file', 'job', 'account', 'owner'] as const;
export type PolicyGroup = (typeof policyGroups)[number];
export const policySorts = ['name', 'next', 'job'] as const;

export interface PolicyQuery {
  /** In the name, the description, the owner, the labels, the job or the file. */
  search: string;
  job: string | undefined;
  label: string | undefined;
  account: string | undefined;
  state: (typeof policyStates)[number] | undefined;
  group: PolicyGroup | undefined;
  sort: (typeof policySorts)[number];
  descending: boolean;
  /** From 1. */
  page: number;
}

export interface PolicyRow {
  policy: Policy;
  pause: Pause | undefined;
  nextAt: number | undefined;
  /** Newest first. */
  runs: Run[];
  /**
   * Of the runs that ended, the part without a failure; undefined before one has. Skipped and cancelled ones, and
   * those in which nothing was done, do not count.
   */
  successRate: number | undefined;
}

export const POLICIES_A_PAGE = 50;

/** The policies that match, in the order of the list. */
export async function findPolicies(
  reader: Reader,
  policies: readonly Policy[],
  query: PolicyQuery,
  now: number,
): Promise<Found[]> {
  const states = await reader.policyStates(policies);
  const matching = policies
    .map((policy) => {
      const state = states.get(policy.name);
      return { policy, pause: pauseAt(state, now), nextAt: nextFiringAt(policy, state, now), state };
    })
    .filter((one) => matches(one, query))
    .sort((a, b) => orders[query.sort](a, b) || a.policy.name.localeCompare(b.policy.name));
  if (query.descending) matching.reverse();
  const { group } = query;
  if (group) matching.sort((a, b) => groupOf(a.policy, group).localeCompare(groupOf(b.policy, group)));
  return matching;
}

/** Reads the latest runs of a page of policies. `groups`: how many of all that match are in each group. */
export async function readPolicies(
  reader: Reader,
  policies: readonly Policy[],
  query: PolicyQuery,
  { now, latest }: { now: number; latest: number },
): Promise<{ rows: PolicyRow[]; found: number; groups: ReadonlyMap<string, number> }> {
  const matching = await findPolicies(reader, policies, query, now);
  const groups = new Map<string, number>();
  const { group } = query;
  if (group)
    for (const { policy } of matching) {
      const name = groupOf(policy, group);
      groups.set(name, (groups.get(name) ?? 0) + 1);
    }
  const onPage = matching.slice((query.page - 1) * POLICIES_A_PAGE, query.page * POLICIES_A_PAGE);
  const runs = await Promise.all(
    onPage.map(({ policy }) => reader.runs({ policy: policy.name, limit: latest })),
  );
  const rows = onPage.map(({ policy, pause, nextAt }, index): PolicyRow => {
    const ofPolicy = runs[index] ?? [];
    return { policy, pause, nextAt, runs: ofPolicy, successRate: successRateOf(ofPolicy) };
  });
  return { rows, found: matching.length, groups };
}

/** The value that a policy is grouped by. */
export function groupOf(policy: Policy, group: PolicyGroup): string {
  if (group === 'file') return shortFile(policy.file);
  return policy[group] ?? `no ${group}`;
}

type Found = Omit<PolicyRow, 'runs' | 'successRate'> & { state: PolicyState | undefined };

function matches({ policy, pause, state }: Found, query: PolicyQuery): boolean {
  const { name, description, owner, labels, job, file, account } = policy;
  const text = [name, description, owner, ...labelTexts(labels), job, file].join('\n').toLowerCase();
  return (
    text.includes(query.search.toLowerCase()) &&
    (query.job === undefined || job === query.job) &&
    (query.label === undefined || hasLabels(labels, [query.label])) &&
    (query.account === undefined || account === query.account) &&
    (query.state === undefined || isIn(query.state, policy, pause, state))
  );
}

function isIn(
  wanted: (typeof policyStates)[number],
  { schedule }: Policy,
  pause: Pause | undefined,
  state: PolicyState | undefined,
): boolean {
  switch (wanted) {
    case 'active':
      return schedule !== undefined && !schedule.disabled && pause === undefined;
    case 'paused':
      return pause !== undefined;
    case 'disabled':
      return schedule?.disabled === true;
    case 'manual':
      return schedule === undefined;
    case 'failing':
      return (state?.failures ?? 0) > 0;
  }
}

/** Policies without a next time are at the end. */
const orders: Record<PolicyQuery['sort'], (a: Found, b: Found) => number> = {
  name: () => 0,
  next: (a, b) => (a.nextAt ?? Number.MAX_VALUE) - (b.nextAt ?? Number.MAX_VALUE),
  job: (a, b) => a.policy.job.localeCompare(b.policy.job),
};

function successRateOf(runs: readonly Run[]): number | undefined {
  const counted = runs.filter(
    ({ status, counts }) =>
      isFinal(status) &&
      status !== 'skipped' &&
      status !== 'cancelled' &&
      !(status === 'succeeded' && counts.succeeded === 0),
  );
  if (counted.length === 0) return undefined;
  return counted.filter((run) => ['succeeded', 'found'].includes(shownStatus(run))).length / counted.length;
}
