/**
 * What all schedules of an account will cost in the next 24 hours, and which policies cannot fit into its
 * budget.
 */

import type { Caretaker } from '../app/caretaker.ts';
import type { BudgetUsage } from '../budget/usage.ts';
import { costOf, estimateTargets, pastCost } from '../engine/plan/cost.ts';
import { CaretakerError } from '../errors.ts';
import { type Policy, weights } from '../policy/policy.ts';
import type { PolicyState } from '../records/policy-store.ts';
import { firingsAhead } from '../schedule/policy-report.ts';

export interface PolicyForecast {
  policy: string;
  firings: number;
  /** Requests of one run; nothing when nobody can tell. */
  requests?: number;
  /** What that is known from. */
  from: 'past runs' | 'estimate' | 'nothing';
  /** How long its runs take at most, with everything else that is to run. */
  takesMs: number;
  /** Why it cannot fit. */
  warning?: string;
}

export interface Forecast {
  /** Requests of all firings, and what may be spent in the same time. */
  requests: number;
  capacity: number;
  policies: PolicyForecast[];
}

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** A policy that fires more often than this is estimated to go on as it begins. */
const MAX_FIRINGS = 300;

/** A run to come. */
export interface ForecastRun {
  policy: string;
  at: number;
  requests: number;
  weight: number;
  /** It takes no less than this, however much may be spent. */
  minMs: number;
}

/**
 * How long each of the runs to come takes, in their order, when what may be spent in a minute is divided by
 * weight among those under way. Pure.
 */
export function simulate(coming: readonly ForecastRun[], perMinute: number, now: number): number[] {
  const open = coming.map((run, index) => {
    // In whole minutes, as the requests are given out.
    const from = now + Math.floor((run.at - now) / MINUTE_MS) * MINUTE_MS;
    return { ...run, index, from, left: run.requests };
  });
  const waiting = [...open].sort((a, b) => a.at - b.at);
  const took = coming.map(({ minMs }) => minMs);
  let active: typeof open = [];
  // What has not ended a day after the last firing never fits.
  for (let at = now; (waiting.length > 0 || active.length > 0) && at < now + 2 * DAY_MS; at += MINUTE_MS) {
    while (waiting[0] && waiting[0].at < at + MINUTE_MS) active.push(...waiting.splice(0, 1));
    let left = perMinute;
    // Those that need least for their weight first: what they leave is the others'.
    const byNeed = active.sort((a, b) => a.left / a.weight - b.left / b.weight);
    let weight = byNeed.reduce((sum, run) => sum + run.weight, 0);
    for (const run of byNeed) {
      const given = Math.min(run.left, (left * run.weight) / weight);
      run.left -= given;
      left -= given;
      weight -= run.weight;
      took[run.index] = Math.max(run.minMs, at + MINUTE_MS - run.from);
    }
    active = active.filter((run) => run.left > 1e-6);
  }
  for (const run of [...active, ...waiting]) took[run.index] = Number.POSITIVE_INFINITY;
  return took;
}

/** Costs one request for each policy that has not run yet, to count what it may work on. */
export async function forecast(
  caretaker: Caretaker,
  account: string,
  policies: readonly Policy[],
  usage: BudgetUsage,
): Promise<Forecast> {
  const { clock, records } = caretaker;
  const now = clock.now();
  const states = await records.policies.many(policies.map(({ name }) => name));
  const found: { policy: Policy; times: number[]; cost: RunCost }[] = [];
  for (const policy of policies) {
    if (policy.account !== account || !policy.schedule) continue;
    const times = firingsWithin(policy, states.get(policy.name), now, now + DAY_MS);
    if (times.length > 0) found.push({ policy, times, cost: await costOfRun(caretaker, policy) });
  }
  const perMinute = Math.max(1, usage.limit - Math.max(usage.reserved, usage.othersPerMinute ?? 0));
  const coming = found.flatMap(({ policy, times, cost }) =>
    times.map((at) => ({
      policy: policy.name,
      at,
      requests: cost.requests ?? 0,
      weight: weights[policy.priority],
      minMs: cost.ms,
    })),
  );
  const took = simulate(coming, perMinute, now);
  return {
    requests: coming.reduce((sum, { requests }) => sum + requests, 0),
    capacity: perMinute * 24 * 60,
    policies: found.map(({ policy, times, cost }) => {
      const own = took.filter((_, index) => coming[index]?.policy === policy.name);
      const takesMs = Math.max(...own);
      const warning = warningOf(policy, times, takesMs);
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

function firingsWithin(policy: Policy, state: PolicyState | undefined, now: number, to: number): number[] {
  const near = firingsAhead(policy, state, now, MAX_FIRINGS).map(({ at }) => at);
  const times = near.filter((at) => at < to);
  const [first, last] = [times[0], times.at(-1)];
  if (times.length < MAX_FIRINGS || first === undefined || last === undefined || last <= first) return times;
  const apart = (last - first) / (times.length - 1);
  for (let at = last + apart; at < to; at += apart) times.push(at);
  return times;
}

/**
 * Why runs of a policy do not fit: they would not end before they are cut off, or before the next one begins.
 */
function warningOf(policy: Policy, times: readonly number[], takesMs: number): string | undefined {
  const { runMs } = policy.timeout;
  if (takesMs > runMs) return 'Its runs cannot end within timeout.run.';
  const apart = Math.min(...times.slice(1).map((at, index) => at - (times[index] ?? 0)));
  return takesMs > apart ? 'Its runs cannot end before the next one is due.' : undefined;
}

interface RunCost {
  requests?: number;
  from: PolicyForecast['from'];
  ms: number;
}

async function costOfRun(caretaker: Caretaker, policy: Policy): Promise<RunCost> {
  const past = await pastCost(caretaker, policy);
  if (past) return { requests: past.requests, from: 'past runs', ms: past.ms };
  const job = caretaker.registry.get(policy.job);
  if (!job) return { from: 'nothing', ms: 0 };
  try {
    const targets = await estimateTargets(caretaker, policy);
    const { acting, following } = costOf(job, policy, targets, undefined);
    return { requests: Math.max(1, Math.ceil(targets / 100)) + acting + following, from: 'estimate', ms: 0 };
  } catch (error) {
    // The service is away, or refuses us: the rest of the forecast is worth having all the same.
    if (error instanceof CaretakerError) return { from: 'nothing', ms: 0 };
    throw error;
  }
}
