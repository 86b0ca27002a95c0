/**
 * What a run costs in requests and time: estimated from past runs of its policy, or else from the number that
 * the job declares.
 */
import type { BudgetUsage } from '../../budget/usage.ts';
import { countItems } from '../../client/pages.ts';
import type { Input } from '../../contract/operations.ts';
import { MINUTE_MS } from '../../dates.ts';
import { type CandidateList, isList } from '../../job/candidates.ts';
import type { AnyJob } from '../../job/job.ts';
import { candidatesOf } from '../../job/source.ts';
import { type Policy, weights } from '../../policy/policy.ts';
import { jobOf } from '../../policy/policy-job.ts';
import type { Run } from '../../run/run.ts';
import { type EngineDeps, type PlanDeps, policyOf } from '../deps.ts';
import { isWhole } from '../job-api.ts';
import { Directory, lookUpNames, withNames } from './directory.ts';
import { MAX_LOOKUPS_AGAIN, MAX_LOOKUPS_BY_ID } from './listing.ts';

/** The average cost of the last whole runs of a policy. */
export interface PastCost {
  runs: number;
  /** Requests of a whole run, planning included. */
  requests: number;
  /** How long a whole run took. */
  ms: number;
  /** Requests (without planning) and time per target that was worked on; undefined when there was none. */
  perTarget?: { requests: number; ms: number };
}

const MAX_PAST_RUNS = 5;
/** Among this many of the last runs, and of them this many of this version: others are retries, or were cancelled. */
const LOOK_BACK = 50;
const MAX_LOOKED = 15;
/**
 * The typical number of sweep requests, for a policy without past runs: pages in proportion to the targets,
 * and some extra sweeps for the first and last ends.
 */
const estimateFollowing = (targets: number) => Math.ceil(Math.min(10, targets * 0.1) + targets * 0.02);

/** Whether a run had targets and worked on none (frozen, or done already): it tells nothing about what work costs. */
const didNothing = ({ counts: { planned, succeeded, failed } }: Run): boolean =>
  planned > 0 && succeeded + failed === 0;

/** Costs no request. Undefined when no run of the policy in this account has ended that did something. */
export async function pastCost(
  { records }: Pick<PlanDeps, 'records'>,
  policy: Policy,
): Promise<PastCost | undefined> {
  const runs: Run[] = [];
  // Runs of an earlier version of the policy do not predict its cost.
  for (const run of await records.runs.ofVersion(policy, { limit: MAX_LOOKED, among: LOOK_BACK })) {
    const isCut = run.status === 'cancelled' || run.status === 'stopped';
    if (isCut || didNothing(run) || run.account !== policy.account) continue;
    if (await isWhole(records, run)) runs.push(run);
    if (runs.length === MAX_PAST_RUNS) break;
  }
  if (runs.length === 0) return undefined;
  const sum = (of: (run: Run) => number) => runs.reduce((total, run) => total + of(run), 0);
  const targets = sum(({ plan }) => plan?.targets ?? 0);
  const beside = sum(({ requests, plan }) => requests - (plan?.requests ?? 0));
  const ms = sum(({ startedAt = 0, finishedAt = startedAt }) => finishedAt - startedAt);
  return {
    runs: runs.length,
    requests: Math.round(sum(({ requests }) => requests) / runs.length),
    ms: ms / runs.length,
    ...(targets === 0 ? {} : { perTarget: { requests: beside / targets, ms: ms / targets } }),
  };
}

const pagesOf = (items: number): number => Math.max(1, Math.ceil(items / 100));

/**
 * How many targets a run has at most, and the requests of its plan, by the number of items that match the
 * policy's filters. With `for_each` the former is a guess: one target for each list. Usually costs one request,
 * one for each joined list, and those of
 * `lookUpNames`.
 *
 * @throws the client's errors, and {UnknownNameError}.
 */
export async function estimatePlan(
  { registry, link }: Pick<EngineDeps, 'registry' | 'link'>,
  policy: Policy,
): Promise<{ targets: number; planning: number }> {
  const job = jobOf(registry, policy);
  if (!job) return { targets: 0, planning: 0 };
  const { client } = link(policy.account);
  const options = { requestClass: 'person' } as const;
  const { select } = withNames(policy, await lookUpNames(policy, job, new Directory(client, options)));
  const count = (id: CandidateList, filters: Policy['select']['filters']) =>
    countItems(id, (page) => client.call(id, { ...page, filters } as Input<typeof id>, options));
  const { forEach } = select;
  if (job.takesLists && !forEach) return { targets: 1, planning: 0 };
  const from = candidatesOf(job, select);
  if (!isList(from)) return { targets: 1, planning: from === 'account' ? 0 : 1 };
  const found = forEach ? await count(forEach.list, forEach.filters) : await count(from, select.filters);
  let planning = pagesOf(found) + (forEach && !job.takesLists ? found : 0);
  for (const { list, filters } of Object.values(select.join ?? {}))
    planning += pagesOf(await count(list, filters));
  return { targets: Math.min(found, select.limit ?? found), planning };
}

/** What the targets of a run will cost. */
export function costOf(
  job: AnyJob,
  policy: Policy,
  targets: number,
  past: PastCost | undefined,
): { acting: number; following: number } {
  const some = job.requestsPerTarget;
  const perTarget = typeof some === 'number' ? some : some(policy.options);
  if (!past?.perTarget) {
    return {
      acting: Math.ceil(targets * perTarget),
      following: estimateFollowing(targets),
    };
  }
  const all = Math.round(targets * past.perTarget.requests);
  const acting = Math.min(all, Math.ceil(targets * perTarget));
  return { acting, following: all - acting };
}

/**
 * About how many of its requests a run with batches spends between them: on gates that ask `healthy`, and on looking
 * at the targets of the next batch again. `pages`: what listing the candidates costs.
 */
export function checksBetween(
  { rollout }: Pick<Policy, 'rollout'>,
  batches: readonly { targets: number }[],
  pages: number,
): number {
  const sizes = batches.map(({ targets }) => targets).filter((targets) => targets > 0);
  let done = 0;
  let requests = 0;
  for (const [i, next] of sizes.slice(1).entries()) {
    done += sizes[i] ?? 0;
    if (rollout?.healthy !== undefined) requests += done <= MAX_LOOKUPS_BY_ID ? done : pages;
    requests += next <= MAX_LOOKUPS_AGAIN ? next : pages;
  }
  return requests;
}

/** How many requests per minute a run of the policy gets beside other clients and the active runs. */
export function requestsPerMinuteFor(policy: Policy, usage: BudgetUsage, active: readonly Run[]): number {
  const { limit, reserved, othersPerMinute = 0 } = usage;
  const beside = active
    .filter(({ status, policy: name }) => status === 'running' && name !== policy.name)
    .map((run) => weights[policyOf(run).priority]);
  const own = weights[policy.priority];
  const all = beside.reduce((total, weight) => total + weight, own);
  return Math.max(1, (Math.max(0, limit - Math.max(reserved, othersPerMinute)) * own) / all);
}

/**
 * How long this many requests take at that rate. All requests of a window are sent at its beginning, so the
 * last window adds nothing.
 */
export const durationOf = (requests: number, perMinute: number): number =>
  Math.floor(requests / perMinute) * MINUTE_MS;
