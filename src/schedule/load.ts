/** What predicted runs need of the budget: by the hour, and where they collide; pure. */

import { MINUTE_MS } from '../dates.ts';
import type { PredictedRun } from './predicted-runs.ts';

/** A run whose requests are known. They are assumed to be sent evenly while it runs. */
interface Interval {
  policy: string;
  from: number;
  to: number;
  requests: number;
}

/** Runs of different policies at the same time that need more than the budget of their account gives. */
export interface Collision {
  account: string;
  /** In the order in which they start. */
  policies: string[];
  /** When it begins and ends for the first time. */
  from: number;
  to: number;
  /** The most requests a minute that they need together, and those that can be spent. */
  perMinute: number;
  available: number;
  /** How often it occurs, the first one included. */
  times: number;
}

/** A policy that needs less of the budget than this does not cause a collision. */
const MIN_PART = 0.1;

/**
 * Where runs collide, in the order of time, one entry for the same policies. `available`: the requests a minute that
 * can be spent, by account. Runs whose duration or requests are not known count as nothing.
 */
export function collisionsOf(
  runs: readonly PredictedRun[],
  available: ReadonlyMap<string, number>,
): Collision[] {
  const found = [...available].flatMap(([account, perMinute]) =>
    overloadsOf(
      intervalsOf(runs.filter(({ policy }) => policy.account === account)),
      account,
      Math.max(1, perMinute),
    ),
  );
  const bySet = new Map<string, Collision>();
  for (const one of found.sort((a, b) => a.from - b.from)) {
    const key = [one.account, ...[...one.policies].sort()].join(' ');
    const first = bySet.get(key);
    if (!first) bySet.set(key, one);
    else {
      first.times += 1;
      first.perMinute = Math.max(first.perMinute, one.perMinute);
    }
  }
  return [...bySet.values()];
}

/** The stretches of time in which two or more policies need more than is available. */
function overloadsOf(intervals: readonly Interval[], account: string, available: number): Collision[] {
  const edges = [...new Set(intervals.flatMap(({ from, to }) => [from, to]))].sort((a, b) => a - b);
  const waiting = [...intervals].sort((a, b) => a.from - b.from);
  let active: Interval[] = [];
  let current: Collision | undefined;
  const all: Collision[] = [];
  for (const [index, at] of edges.entries()) {
    active = active.filter(({ to }) => to > at);
    while (waiting[0] && waiting[0].from <= at) active.push(...waiting.splice(0, 1));
    const rates = new Map<string, number>();
    for (const one of active) rates.set(one.policy, (rates.get(one.policy) ?? 0) + rateOf(one));
    const perMinute = [...rates.values()].reduce((sum, rate) => sum + rate, 0);
    const names = [...rates].filter(([, rate]) => rate >= available * MIN_PART).map(([name]) => name);
    const end = edges[index + 1] ?? at;
    if (perMinute <= available || names.length < 2) {
      current = undefined;
      continue;
    }
    if (!current) {
      current = { account, policies: [], from: at, to: end, perMinute: 0, available, times: 1 };
      all.push(current);
    }
    current.to = end;
    current.perMinute = Math.max(current.perMinute, Math.round(perMinute));
    current.policies.push(...names.filter((name) => !current?.policies.includes(name)));
  }
  return all;
}

const rateOf = ({ from, to, requests }: Interval): number => (requests * MINUTE_MS) / (to - from);

/** The budget is given by the minute: a shorter run needs its requests in one minute. */
const intervalsOf = (runs: readonly PredictedRun[]): Interval[] =>
  runs.flatMap(({ policy, at, cost, skipCause }) =>
    cost && !skipCause && cost.requests > 0
      ? [
          {
            policy: policy.name,
            from: at,
            to: at + Math.max(MINUTE_MS, cost.ms),
            requests: cost.requests,
          },
        ]
      : [],
  );

/** The requests that each policy is predicted to send in each of these spans of time, by policy. */
export function loadOf(
  runs: readonly PredictedRun[],
  spans: readonly { from: number; to: number }[],
): Map<string, number[]> {
  const load = new Map<string, number[]>();
  for (const { policy, from, to, requests } of intervalsOf(runs)) {
    const ofPolicy = load.get(policy) ?? spans.map(() => 0);
    load.set(policy, ofPolicy);
    for (const [index, span] of spans.entries()) {
      const overlap = Math.min(to, span.to) - Math.max(from, span.from);
      if (overlap > 0) ofPolicy[index] = (ofPolicy[index] ?? 0) + (requests * overlap) / (to - from);
    }
  }
  return load;
}

/** The policies with a run whose duration and requests it is not known, because none of its runs has ended. */
export const unknownIn = (runs: readonly PredictedRun[]): string[] => [
  ...new Set(runs.flatMap(({ policy, cost, skipCause }) => (cost || skipCause ? [] : [policy.name]))),
];
