/**
 * Targets by the page.
 *
 * A page begins at a position of the plan, so it costs the same wherever it is. A search reads at
 * most `MAX_READ` targets and reports where to continue.
 */
import type { TargetStore } from '../records/target-store.ts';
import type { Outcome, Target } from '../run/run.ts';
import { scrub } from '../secrets.ts';

export interface TargetQuery {
  /** Only those with this outcome; `open` are those that have none yet. */
  outcome?: Outcome | 'open';
  /** Only those whose id, label, reason or detail contains this text, ignoring case. */
  search?: string;
  /** The position in the plan to begin at; 0 is the first. */
  from: number;
  limit: number;
}

export interface TargetPage {
  targets: Target[];
  /** The position to continue at; missing after the last target of the plan. */
  next?: number;
}

/** At most this many targets are read for one page: some ten round trips. */
export const MAX_READ = 5_000;
const CHUNK = 500;

/** The targets that match the query, in the order of the plan. */
export async function readTargetPage(
  store: Pick<TargetStore, 'slice'>,
  run: string,
  { outcome, search, from, limit }: TargetQuery,
): Promise<TargetPage> {
  const wanted = search?.toLowerCase();
  const isWanted = (target: Target) =>
    (outcome === undefined || (target.outcome ?? 'open') === outcome) &&
    (wanted === undefined || searchTextOf(target).includes(wanted));
  const chunk = outcome === undefined && wanted === undefined ? limit : CHUNK;
  const targets: Target[] = [];
  let at = from;
  while (at < from + MAX_READ) {
    const read = await store.slice(run, at, chunk);
    for (const target of read) {
      if (targets.length === limit) return { targets, next: at };
      if (isWanted(target)) targets.push(target);
      at += 1;
    }
    if (read.length < chunk) return { targets };
  }
  return { targets, next: at };
}

/** The text that is searched. It has no secrets, so that no one can find one by guessing. */
const searchTextOf = ({ id, label, reason, detail }: Target): string =>
  scrub([id, label, reason, detail].join('\n')).toLowerCase();
