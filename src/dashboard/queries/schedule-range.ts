/** What runs between two times, and whether the budget suffices for it: what ran, and the predictions of the page. */
import { DAY_MS, MINUTE_MS } from '../../dates.ts';
import type { Policy } from '../../policy/policy.ts';
import { type Collision, collisionsOf, loadOf, unknownIn } from '../../schedule/load.ts';
import { predictedRuns } from '../../schedule/predicted-runs.ts';
import { parseTime } from '../../yaml/written-time.ts';
import type { AccountView } from '../options.ts';
import type { Reader } from './reader.ts';
import { costsOf, spendable } from './schedule.ts';
import { decided, type Entry, MAX_OF_POLICY, toEntry } from './schedule-entries.ts';

export interface Span {
  from: number;
  to: number;
}
export interface Range extends Span {
  /** Also runs that no schedule made. */
  entries: Entry[];
  /** What the runs of the past spent. */
  spent: number;
  /** From now on: what is predicted, and what can be spent. */
  accounts: { account: string; requests: number; free: number }[];
  collisions: Collision[];
  unknown: string[];
}

/** So many runs of the past are looked at. */
const MAX_RUNS = 1_000;
/** With the hour of a day that has 25. */
const MAX_MS = DAY_MS + 60 * MINUTE_MS;

/** The times of an address, in a zone unless they have one; a sentence when they are none, undefined without any. */
export function spanOf(
  from: string | undefined,
  to: string | undefined,
  zone: string,
): Span | string | undefined {
  if (from === undefined && to === undefined) return undefined;
  const read = (text = '') => parseTime(/(?:Z|[+-]\d\d:?\d\d)$/i.test(text) ? text : `${text} ${zone}`, 0);
  const span = { from: read(from) ?? Number.NaN, to: read(to) ?? Number.NaN };
  const ms = span.to - span.from;
  return ms > 0 && ms <= MAX_MS ? span : 'Choose a time of at most a day: its begin, and its end after it.';
}

export async function readRange(
  reader: Reader,
  { policies, accounts, now }: { policies: readonly Policy[]; accounts: readonly AccountView[]; now: number },
  { from, to }: Span,
): Promise<Range> {
  const scheduled = policies.filter(({ schedule }) => schedule);
  const past = { since: from - DAY_MS, until: Math.min(to, now + 1), limit: MAX_RUNS };
  const [states, costs, runs] = await Promise.all([
    reader.policyStates(scheduled),
    costsOf(reader, scheduled),
    from < now ? reader.runs(past) : [],
  ]);
  const ran = runs.flatMap((run): Entry[] => {
    const { startedAt, finishedAt = now, trigger, scheduledFor } = run;
    const policy = policies.find(({ name }) => name === run.policy);
    if (!policy || startedAt === undefined || startedAt >= to || finishedAt < from) return [];
    const note = trigger === 'schedule' ? {} : { note: trigger };
    return [decided(policy, { scheduledFor, is: 'ran', run: run.id, at: startedAt, ...note }, run, now)];
  });
  const span = { from: Math.max(now, from - DAY_MS), until: to - 1, limit: MAX_OF_POLICY };
  const ahead = predictedRuns(scheduled, { states, costs }, span).filter(
    ({ at, cost, skipCause }) => at + (skipCause ? 0 : (cost?.ms ?? 0)) >= from,
  );
  const rest = { from: Math.max(now, from), to };
  const seen = new Map(accounts.map((one) => [one.account, spendable(one)]));
  return {
    ...{ from, to, spent: ran.reduce((all, { requests = 0 }) => all + requests, 0) },
    entries: [...ran, ...ahead.map(toEntry)].sort((a, b) => a.at - b.at),
    accounts: [...seen].map(([account, perMinute]) => {
      const load = loadOf(
        ahead.filter(({ policy }) => policy.account === account),
        [rest],
      );
      const requests = [...load.values()].reduce((all, [count = 0]) => all + count, 0);
      return { account, requests, free: (perMinute * Math.max(0, rest.to - rest.from)) / MINUTE_MS };
    }),
    collisions: collisionsOf(ahead, seen).filter((one) => one.from < to && one.to > from),
    unknown: unknownIn(ahead),
  };
}
