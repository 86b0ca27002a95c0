/**
 * Targets by the page. A page begins at a position of the plan, so its cost does not depend on where it is;
 * looking for some among many reads no more than `MAX_READ` of them, and says where to go on.
 */
import type { TargetStore } from '../../records/target-store.ts';
import type { Outcome, Target } from '../../run/run.ts';
import { scrub } from '../../secrets.ts';

export interface TargetQuery {
  /** Only those with this outcome; `open` are those that have none yet. */
  outcome?: Outcome | 'open';
  /** Only those in whose id, label, reason or detail this stands, in any case. */
  search?: string;
  /** The position in the plan to begin at; 0 is the first. */
  from: number;
  limit: number;
}

export interface TargetPage {
  targets: Target[];
  /** The position to go on at; missing after the last target of the plan. */
  next?: number;
}

/** Targets read for one page at most: some ten round trips. */
export const MAX_READ = 5_000;
const CHUNK = 500;

/** The targets that the query is about, in the order of the plan. */
export async function pageOfTargets(
  store: Pick<TargetStore, 'slice'>,
  run: string,
  { outcome, search, from, limit }: TargetQuery,
): Promise<TargetPage> {
  const wanted = search?.toLowerCase();
  const isWanted = (target: Target) =>
    (outcome === undefined || (target.outcome ?? 'open') === outcome) &&
    (wanted === undefined || textOf(target).includes(wanted));
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

/** What is looked through: never what is not shown, so that nobody can find a secret by guessing at it. */
const textOf = ({ id, label, reason, detail }: Target): string =>
  scrub([id, label, reason, detail].join('\n')).toLowerCase();
