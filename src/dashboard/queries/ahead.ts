/** What is scheduled for the next hours. */
import type { Policy } from '../../policy/policy.ts';
import type { PolicyState } from '../../records/policy-store.ts';
import type { Run } from '../../run/run.ts';
import { firingsAhead } from '../../schedule/policy-report.ts';
import type { Reader } from './reader.ts';

/** So many policies are shown; a policy of every 15 minutes has 96 runs a day. */
const MAX_POLICIES = 10;
const MAX_TIMES = 96;
/** A run whose duration is unknown. */
const UNKNOWN_MS = 60_000;

export interface Ahead {
  from: number;
  to: number;
  /** Those that run next first. */
  policies: {
    policy: Policy;
    times: number[];
    /** How long a run takes, by the latest that ended; undefined before one has. */
    tookMs: number | undefined;
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
      times: firingsAhead(policy, states.get(policy.name), now, MAX_TIMES, to)
        .map(({ at }) => at)
        .filter((at) => at <= to),
      tookMs: durationOf(lastRuns[index]?.[0]),
    })),
    more: next.length - shown.length,
  };
}

/** How wide a block is. */
export const blockMs = (tookMs: number | undefined): number => tookMs ?? UNKNOWN_MS;

const durationOf = (run: Run | undefined): number | undefined =>
  run?.startedAt === undefined || run.finishedAt === undefined ? undefined : run.finishedAt - run.startedAt;
