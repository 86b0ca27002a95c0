/**
 * The targets that stored runs have worked on, by label, each with its last result. Read from the records alone: the
 * service is not asked. The labels of all targets are in memory (`target-index.ts`); only the results of the targets
 * on a page are read. A filter by outcome reads at most `MAX_LOOKED` targets a page, and says where to continue.
 */

import { defined } from '../../defined.ts';
import type { Label } from '../../records/label-store.ts';
import type { FindingPolicy } from '../../records/open-findings-store.ts';
import type { Records } from '../../records/records.ts';
import type { Outcome, Run, Target } from '../../run/run.ts';
import { redact, scrubOnce } from '../../secrets.ts';
import type { TargetIndex } from './target-index.ts';

export interface SiteQuery {
  /** Words in lower case, each of them in the id or the label. */
  words: readonly string[];
  account: string | undefined;
  /** How the last run ended for the target. */
  outcome: Outcome | undefined;
  descending: boolean;
  /** The place in the list where the page begins. */
  from: number;
}

export interface Site extends Label {
  /** The last run that worked on it and is still stored, with the result of the target. */
  last: { run: Run; target: Target } | undefined;
  /** In how many of its last 20 runs in a row it failed, the last one included. */
  streak: number;
  /** Open findings on it and its items. */
  findings: number;
}

export interface SitePage {
  sites: Site[];
  /** How many match the words and the account; missing for a reader who sees only some of the runs. */
  found?: number;
  /** The `from` of the next page; missing at the end. */
  next?: number;
  /** The page is not full, because as many targets were looked at as one page may cost. */
  looked?: number;
}

/** What the reader may see. */
export interface SiteScope {
  run(run: Pick<Run, 'policy' | 'account'>): boolean;
  account(name: string): boolean;
  wholeAccount(name: string): boolean;
}

export interface SitesReader {
  list(query: SiteQuery, limit: number): Promise<SitePage>;
  /** The same reader for a person who sees only these. */
  within(scope: SiteScope): SitesReader;
}

/** At most this many targets are read for one page. */
const MAX_LOOKED = 2_000;
const CHUNK = 200;

const everything: SiteScope = { run: () => true, account: () => true, wholeAccount: () => true };

export function openSitesReader(
  records: Records,
  index: TargetIndex,
  scope: SiteScope = everything,
): SitesReader {
  return {
    async list(query, limit) {
      const { words, account, outcome, descending, from } = query;
      const { labels: all, accounts } = await index.all(words);
      const listed = new Set(
        accounts.filter((name) => scope.account(name) && (account === undefined || name === account)),
      );
      const isAll = listed.size === accounts.length;
      const matching = isAll ? all : all.filter((one) => listed.has(one.account));
      const labels = descending ? matching.toReversed() : matching;
      const isWhole = [...listed].every((name) => scope.wholeAccount(name));
      const matches = ({ last, account: of }: Site) =>
        (last !== undefined || scope.wholeAccount(of)) &&
        (outcome === undefined || last?.target.outcome === outcome);
      const isIndexed = isWhole && outcome === undefined;
      const sites: Site[] = [];
      let at = from;
      const results = resultsFrom(records, labels, scope, { from, chunk: isIndexed ? limit : CHUNK });
      for await (const site of results) {
        at += 1;
        if (matches(site)) sites.push(site);
        if (sites.length === limit || at - from >= MAX_LOOKED) break;
      }
      await countFindings(records, sites, scope);
      const isFull = sites.length === limit;
      return {
        sites: redact(sites, scrubOnce) as Site[],
        ...(isWhole ? { found: labels.length } : {}),
        ...restOf(at, { end: labels.length, looked: isFull ? undefined : at - from }),
      };
    },
    within: (other) =>
      openSitesReader(records, index, {
        run: (run) => scope.run(run) && other.run(run),
        account: (name) => scope.account(name) && other.account(name),
        wholeAccount: (name) => scope.wholeAccount(name) && other.wholeAccount(name),
      }),
  };
}

const restOf = (
  at: number,
  { end, looked }: { end: number; looked: number | undefined },
): Pick<SitePage, 'next' | 'looked'> => (at >= end ? {} : { next: at, ...defined({ looked }) });

/** The targets from a place on with their last results, read a chunk at a time. */
async function* resultsFrom(
  records: Records,
  labels: readonly Label[],
  scope: SiteScope,
  { from, chunk }: { from: number; chunk: number },
): AsyncGenerator<Site> {
  const runs = new Map<string, Run | undefined>();
  for (let at = from; at < labels.length; at += chunk)
    yield* await withResults(records, labels.slice(at, at + chunk), scope, runs);
}

/** The targets with their last results of runs that are seen. `runs` keeps what was read of runs, for one page. */
async function withResults(
  records: Records,
  labels: readonly Label[],
  scope: SiteScope,
  runs: Map<string, Run | undefined>,
): Promise<Site[]> {
  const ids = await Promise.all(labels.map(({ account, target }) => records.targets.runsOf(account, target)));
  // For a person who sees everything the last run is enough.
  const wanted = new Set(
    ids.flatMap((all, at) => (scope.wholeAccount(labels[at]?.account ?? '') ? all.slice(0, 1) : all)),
  );
  const unread = [...wanted].filter((id) => !runs.has(id));
  const read = new Map((await records.runs.many(unread)).map((run) => [run.id, run]));
  for (const id of unread) runs.set(id, read.get(id));
  return Promise.all(
    labels.map(async (label, at): Promise<Site> => {
      const seen = (ids[at] ?? []).filter((id) => {
        const run = runs.get(id);
        return run ? scope.run(run) : scope.wholeAccount(label.account);
      });
      const run = runs.get(seen[0] ?? '');
      const target = run && (await records.targets.get(run.id, label.target));
      const last = run && target ? { run, target } : undefined;
      const streak = target?.outcome === 'failed' ? await streakOf(records, label.target, seen) : 0;
      return { ...label, last, streak, findings: 0 };
    }),
  );
}

async function streakOf({ targets }: Records, target: string, runs: readonly string[]): Promise<number> {
  const results = await Promise.all(runs.map((run) => targets.get(run, target)));
  const first = results.findIndex((one) => one?.outcome !== 'failed');
  return first < 0 ? results.length : first;
}

async function countFindings(
  { openFindings }: Records,
  sites: readonly Site[],
  scope: SiteScope,
): Promise<void> {
  const policies = (await openFindings.policies()).filter((one) => scope.run(one));
  for (const account of new Set(sites.map((site) => site.account))) {
    const ofAccount = sites.filter((site) => site.account === account);
    const isHere = (one: FindingPolicy) => one.account === account;
    const counts = await openFindings.countOfSites(
      policies.filter(isHere),
      ofAccount.map(({ target }) => target),
    );
    for (const [at, site] of ofAccount.entries()) site.findings = counts[at] ?? 0;
  }
}
