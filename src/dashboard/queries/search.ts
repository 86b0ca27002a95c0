/**
 * One search over policies, runs, targets, tasks and reasons. What the context does not show is not found: its policies,
 * accounts and reader are those of the principal.
 */
import type { Policy } from '../../policy/policy.ts';
import type { Label } from '../../records/label-store.ts';
import type { Reason, ReasonInfo } from '../../run/reasons.ts';
import type { Run } from '../../run/run.ts';
import type { DashboardContext } from '../http/context.ts';
import { type Group, readLastDay } from './last-day.ts';
import type { TargetRun } from './search-reader.ts';

export interface Results {
  policies: Policy[];
  runs: Run[];
  targets: Label[];
  /** Targets whose work became the task or item with this id. */
  made: TargetRun[];
  reasons: FoundReason[];
}

export interface FoundReason {
  reason: Reason;
  info: ReasonInfo;
  /** The targets of the last 24 hours that ended for it, unless it is of successes only. */
  lastDay?: Group;
}

/** A query is not longer. */
const MAX_LENGTH = 200;
/** With fewer characters, nearly every run and target is found. */
const MIN_LENGTH = 2;

/** The text that is searched for, as far as it counts. */
export const queryIn = (text: string | undefined): string => (text ?? '').trim().slice(0, MAX_LENGTH);

/** At most `limit` results of each kind, the best first. */
export async function search(
  context: Pick<DashboardContext, 'policies' | 'reader' | 'reasons' | 'clock'>,
  query: string,
  limit: number,
): Promise<Results> {
  const text = query.toLowerCase();
  const words = text.split(/\s+/).filter((word) => word !== '');
  if (words.length === 0) return { policies: [], runs: [], targets: [], made: [], reasons: [] };
  const { reader } = context;
  const policies = context.policies();
  const accounts = [...new Set(policies.map(({ account }) => account))];
  const isLong = text.length >= MIN_LENGTH;
  const [runs, targets, made] = await Promise.all([
    // Ids of runs have no spaces.
    isLong && words.length === 1 ? reader.runsWith(query, limit) : [],
    isLong ? reader.targetsWith(words, limit) : [],
    isLong && words.length === 1 ? reader.madeAs(accounts, query) : [],
  ]);
  return {
    policies: bestOf(
      policies,
      words,
      limit,
      ({ name }) => name,
      ({ description = '' }) => description,
    ),
    runs,
    targets,
    made: made.slice(0, limit),
    reasons: await reasonsWith(context, words, limit),
  };
}

/** Reasons by name or sentence. The totals of the last day are read only when there are any. */
async function reasonsWith(
  { reasons, reader, clock }: Pick<DashboardContext, 'reader' | 'reasons' | 'clock'>,
  words: readonly string[],
  limit: number,
): Promise<FoundReason[]> {
  const found = bestOf(
    [...reasons].map(([reason, info]) => ({ reason, info })),
    words,
    limit,
    ({ reason }) => reason,
    ({ info }) => info.text,
  );
  if (found.length === 0) return [];
  const { failed, skipped } = await readLastDay(reader, reasons, clock.now());
  return found.map((one) => {
    const lastDay = [...failed, ...skipped].find(({ reason }) => reason === one.reason);
    return lastDay ? { ...one, lastDay } : one;
  });
}

/** Those with all words in their name or text: first the name itself, then names that begin so, then by name. */
function bestOf<T>(
  all: readonly T[],
  words: readonly string[],
  limit: number,
  nameOf: (one: T) => string,
  textOf: (one: T) => string,
): T[] {
  const [first = ''] = words;
  const rankOf = (name: string): number => {
    if (name === words.join(' ')) return 0;
    if (name.startsWith(first)) return 1;
    return words.every((word) => name.includes(word)) ? 2 : 3;
  };
  return all
    .flatMap((one) => {
      const name = nameOf(one).toLowerCase();
      const text = `${name} ${textOf(one).toLowerCase()}`;
      return words.every((word) => text.includes(word)) ? { one, name, rank: rankOf(name) } : [];
    })
    .sort((a, b) => a.rank - b.rank || (a.name < b.name ? -1 : 1))
    .slice(0, limit)
    .map(({ one }) => one);
}
