/**
 * Estimates the requests that all schedules of an account need in the next 24 hours, and finds the policies
 * for which its budget is too small.
 */

import type { BudgetUsage } from '../budget/usage.ts';
import type { Clock } from '../clock.ts';
import { DAY_MS, MINUTE_MS } from '../dates.ts';
import { deadlineAt } from '../engine/deadline.ts';
import { type ChainNode, chainsOf } from '../policy/chains.ts';
import { type Policy, weights } from '../policy/policy.ts';
import type { PolicyState } from '../records/policy-store.ts';
import type { Records } from '../records/records.ts';
import type { NextFiring } from '../schedule/next-firings.ts';
import { firingsAhead } from '../schedule/policy-report.ts';
import { skipCauseOf } from '../schedule/skip-cause.ts';
import type { RunCost } from './run-cost.ts';

export interface PolicyForecast {
  policy: string;
  firings: number;
  /** Requests of one run; undefined when there is no estimate. */
  requests?: number;
  /** The source of that number. */
  from: RunCost['from'];
  /** The longest duration of its runs, beside all other scheduled runs. */
  takesMs: number;
  /** Why the budget is too small for it. */
  warning?: string;
}

export interface Forecast {
  /** Requests of all scheduled runs, and the requests that are available in the same time. */
  requests: number;
  capacity: number;
  policies: PolicyForecast[];
}

/** The times of a policy that fires more often than this are extrapolated. */
const MAX_FIRINGS = 300;

/** When a policy runs: with the scheduled time that it has, unless it follows another one. */
type Firing = Pick<NextFiring, 'at'> & Partial<NextFiring>;

/** An upcoming run. */
export interface ForecastRun {
  policy: string;
  /** When it starts; with `after`, it starts when that run ends, and no earlier than this. */
  at: number;
  /** The index of the run that it follows (`schedule.after`). */
  after?: number;
  requests: number;
  weight: number;
  /** The minimum duration of the run, however large the budget is. */
  minMs: number;
}

/**
 * Returns the duration of each upcoming run, in the given order. The requests of each minute are divided
 * among the active runs by weight. Pure.
 */
export function simulate(upcoming: readonly ForecastRun[], perMinute: number, now: number): number[] {
  const open = upcoming.map((run, index) => {
    // In whole minutes, because the budget has this many requests per minute.
    const from = now + Math.floor((run.at - now) / MINUTE_MS) * MINUTE_MS;
    return { ...run, index, from, left: run.requests };
  });
  const waiting = open.filter(({ after }) => after === undefined).sort((a, b) => a.at - b.at);
  const followers = new Map<number, typeof open>();
  for (const run of open)
    if (run.after !== undefined) followers.set(run.after, [...(followers.get(run.after) ?? []), run]);
  const durations = upcoming.map(({ minMs }) => minMs);
  let active: typeof open = [];
  // A run that has not ended one day after the last firing will never end.
  const ended = new Set<number>();
  for (let at = now; (waiting.length > 0 || active.length > 0) && at < now + 2 * DAY_MS; at += MINUTE_MS) {
    while (waiting[0] && waiting[0].at < at + MINUTE_MS) active.push(...waiting.splice(0, 1));
    let left = perMinute;
    // Runs with the least need for their weight come first, because the others get what these do not use.
    const byNeed = active.sort((a, b) => a.left / a.weight - b.left / b.weight);
    let weight = byNeed.reduce((sum, run) => sum + run.weight, 0);
    for (const run of byNeed) {
      const share = (left * run.weight) / weight;
      const given = Math.min(run.left, share);
      run.left -= given;
      left -= given;
      weight -= run.weight;
      // The last requests take only a part of their minute.
      const ofMinute = share > 0 ? given / share : 1;
      durations[run.index] = Math.max(run.minMs, at - run.from + ofMinute * MINUTE_MS);
    }
    active = active.filter((run) => {
      if (run.left > 1e-6) return true;
      ended.add(run.index);
      for (const follower of followers.get(run.index) ?? []) {
        follower.at = follower.from = Math.max(at + MINUTE_MS, run.from + (durations[run.index] ?? 0));
        waiting.push(follower);
      }
      return false;
    });
    waiting.sort((a, b) => a.at - b.at);
  }
  for (const run of open) if (!ended.has(run.index)) durations[run.index] = Number.POSITIVE_INFINITY;
  return durations;
}

export interface ForecastDeps {
  clock: Pick<Clock, 'now'>;
  states(policies: readonly Policy[]): Promise<ReadonlyMap<string, PolicyState>>;
  /** What a run of the policy costs. */
  costOf(policy: Policy): Promise<RunCost>;
}

/** The states of policies as they are stored. */
export const statesIn =
  (records: Pick<Records, 'policies'>): ForecastDeps['states'] =>
  (policies) =>
    records.policies.many(policies);

/** Computes the forecast. Costs only what `costOf` costs, once for each policy that runs in the next 24 hours. */
export async function forecast(
  { clock, states: statesOf, costOf }: ForecastDeps,
  account: string,
  policies: readonly Policy[],
  usage: BudgetUsage,
): Promise<Forecast> {
  const now = clock.now();
  const states = policies.length === 0 ? new Map<string, PolicyState>() : await statesOf(policies);
  const found: { policy: Policy; times: Firing[]; first: number; cost: RunCost }[] = [];
  const upcoming: ForecastRun[] = [];
  const add = async (node: ChainNode<Policy>, before: readonly number[] | undefined): Promise<void> => {
    // A policy of another account needs nothing here, but others of this account may follow it.
    if (!isConcerned(node, account)) return;
    const { policy } = node;
    const state = states.get(policy.name);
    const times: Firing[] = before
      ? before.map((index) => ({ at: upcoming[index]?.at ?? now }))
      : firingsWithin(policy, state, now, now + DAY_MS);
    const isFired = times.length > 0 && (!before || follows(policy, state, times));
    if (!isFired) return;
    const isOwn = policy.account === account;
    const whole = await costOf(policy);
    const cost: RunCost = isOwn ? whole : { ...whole, requests: 0 };
    if (isOwn) found.push({ policy, times, first: upcoming.length, cost });
    const added = times.map(({ at }, index): ForecastRun => {
      const after = before?.[index];
      return {
        policy: policy.name,
        at,
        ...(after === undefined ? {} : { after }),
        requests: cost.requests ?? 0,
        weight: weights[policy.priority],
        minMs: cost.ms,
      };
    });
    const first = upcoming.push(...added) - added.length;
    const indexes = added.map((_, index) => first + index);
    for (const follower of node.followers) await add(follower, indexes);
  };
  for (const chain of chainsOf(policies)) await add(chain, undefined);
  const perMinute = Math.max(1, usage.limit - Math.max(usage.reserved, usage.othersPerMinute ?? 0));
  const durations = simulate(upcoming, perMinute, now);
  return {
    requests: upcoming.reduce((sum, { requests }) => sum + requests, 0),
    capacity: perMinute * 24 * 60,
    policies: found.map(({ policy, times, first, cost }) => {
      const own = durations.slice(first, first + times.length);
      const takesMs = Math.max(...own);
      const warning = warningOf(policy, times, own);
      return {
        policy: policy.name,
        firings: times.length,
        ...(cost.requests === undefined ? {} : { requests: cost.requests }),
        from: cost.from,
        takesMs,
        ...(warning === undefined ? {} : { warning }),
      };
    }),
  };
}

/** Whether the policy or one that follows it is of the account. */
const isConcerned = ({ policy, followers }: ChainNode<Policy>, account: string): boolean =>
  policy.account === account || followers.some((one) => isConcerned(one, account));

/**
 * Whether the usual end of its predecessor starts the policy: one that follows failures only is not expected
 * to run.
 */
function follows({ schedule }: Policy, state: PolicyState | undefined, [first]: readonly Firing[]): boolean {
  if (!schedule?.after?.status.includes('succeeded')) return false;
  const at = first?.at ?? 0;
  return skipCauseOf(schedule, state ?? {}, { scheduledFor: at, dueAt: at }) === undefined;
}

function firingsWithin(policy: Policy, state: PolicyState | undefined, now: number, to: number): Firing[] {
  const times: Firing[] = firingsAhead(policy, state, now, MAX_FIRINGS, to).filter(({ at }) => at < to);
  const [first, last] = [times[0]?.at, times.at(-1)?.at];
  if (times.length < MAX_FIRINGS || first === undefined || last === undefined || last <= first) return times;
  const interval = (last - first) / (times.length - 1);
  for (let at = last + interval; at < to; at += interval) times.push({ at, scheduledFor: at });
  return times;
}

/** Why the budget is too small: a run would not end before its timeout, its deadline, or the time of the next one. */
function warningOf(
  policy: Policy,
  times: readonly Firing[],
  durations: readonly number[],
): string | undefined {
  const takesMs = Math.max(...durations);
  const { runMs } = policy.timeout;
  if (takesMs > runMs) return 'Its runs would exceed timeout.run.';
  if (times.some((firing, index) => isLate(policy, firing, durations[index] ?? 0)))
    return 'Its runs would miss their deadline.';
  const interval = Math.min(...times.slice(1).map(({ at }, index) => at - (times[index]?.at ?? 0)));
  return takesMs > interval ? 'Its runs would not end before the next one is due.' : undefined;
}

/** Of a run that follows another one only a deadline that is a duration is known, since its start is not. */
function isLate({ deadline, schedule }: Policy, { at, scheduledFor }: Firing, takesMs: number): boolean {
  if (!deadline) return false;
  if (scheduledFor === undefined) return 'afterMs' in deadline && takesMs > deadline.afterMs;
  return at + takesMs > deadlineAt(deadline, schedule?.timezone ?? 'UTC', scheduledFor);
}
