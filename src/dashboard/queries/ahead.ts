/** What is scheduled for the next hours. */

import { HOUR_MS } from '../../dates.ts';
import type { Policy } from '../../policy/policy.ts';
import type { PolicyState } from '../../records/policy-store.ts';
import type { Run } from '../../run/run.ts';
import { firingsAhead } from '../../schedule/policy-report.ts';
import type { Reader } from './reader.ts';

/** How many policies are shown. */
const MAX_POLICIES = 10;
/** How many times of a policy are shown one by one: one of every 15 minutes has 96 a day. Of more, its hours are shown. */
const MAX_TIMES = 96;
/** A run whose duration is unknown. */
const UNKNOWN_MS = 60_000;

export interface Ahead {
  from: number;
  to: number;
  /** Those that run next first. */
  policies: {
    policy: Policy;
    /** A run, as long as the latest that ended took; or an hour in which there are many. */
    blocks: { from: number; ms: number; isMany: boolean }[];
  }[];
  /** How many more policies have runs by then. */
  more: number;
}

/** Computes the next time of every policy, and all times of those that are shown. Reads the last run of each. */
export async function readAhead(
  reader: Reader,
  policies: readonly Policy[],
  states: ReadonlyMap<string, PolicyState>,
  { now, ms }: { now: number; ms: number },
): Promise<Ahead> {
  const to = now + ms;
  const next = policies
    .flatMap((policy) => {
      const [first] = firingsAhead(policy, states.get(policy.name), now, 1);
      return first && first.at <= to ? [{ policy, at: first.at }] : [];
    })
    .sort((a, b) => a.at - b.at);
  const shown = next.slice(0, MAX_POLICIES);
  const lastRuns = await Promise.all(
    shown.map(({ policy }) => reader.runs({ policy: policy.name, limit: 1 })),
  );
  return {
    from: now,
    to,
    policies: shown.map(({ policy }, index) => ({
      policy,
      blocks: blocksOf(policy, states.get(policy.name), { now, to, ms: durationOf(lastRuns[index]?.[0]) }),
    })),
    more: next.length - shown.length,
  };
}

function blocksOf(
  policy: Policy,
  state: PolicyState | undefined,
  { now, to, ms }: { now: number; to: number; ms: number },
): Ahead['policies'][number]['blocks'] {
  const times = firingsAhead(policy, state, now, MAX_TIMES + 1, to).filter(({ at }) => at <= to);
  if (times.length <= MAX_TIMES) return times.map(({ at }) => ({ from: at, ms, isMany: false }));
  const hours = Array.from({ length: Math.ceil((to - now) / HOUR_MS) }, (_, index) => now + index * HOUR_MS);
  return hours.flatMap((hour) => {
    const [first] = firingsAhead(policy, state, hour, 1, hour + HOUR_MS);
    const isInIt = first !== undefined && first.at < hour + HOUR_MS;
    return isInIt ? [{ from: first.at, ms: hour + HOUR_MS - first.at, isMany: true }] : [];
  });
}

const durationOf = (run: Run | undefined): number =>
  run?.startedAt === undefined || run.finishedAt === undefined ? UNKNOWN_MS : run.finishedAt - run.startedAt;
