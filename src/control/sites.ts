/**
 * The sites of the accounts, by address, as the service last showed them, each with what stored runs did; and other
 * targets of runs. The page, the command and the HTTP API list the same.
 *
 * All of them are in memory (`target-index.ts`); only the results of those on a page are read. A filter by results or
 * findings reads at most `MAX_LOOKED` targets a page, and says where to continue.
 */

import { isPermitted, type Principal } from '../access/principal.ts';
import { isoTime } from '../clock.ts';
import { defined } from '../defined.ts';
import { policyOf } from '../engine/deps.ts';
import { siteIdIn, targetOfSite } from '../job/candidates.ts';
import type { Registry } from '../job/registry.ts';
import { candidatesOf } from '../job/source.ts';
import { jobOf } from '../policy/policy-job.ts';
import { isAnyOf, type OneOrSome } from '../records/filter-values.ts';
import type { Records } from '../records/records.ts';
import type { SiteFacts, SiteReading } from '../records/site-store.ts';
import type { Outcome, Run, Target } from '../run/run.ts';
import { InvalidRequestError } from './errors.ts';
import type { AllPolicies } from './policies.ts';
import { readSites, type SiteReadingDeps } from './site-readings.ts';
import { byLabel, type KnownTarget, openTargetIndex, type SiteNames } from './target-index.ts';

/** `other`: staging copies, clients, plugins of a site, and whatever else runs work on. */
export const siteKinds = ['site', 'other'] as const;

export interface SiteFilter {
  kind: (typeof siteKinds)[number];
  /** Words in lower case, each of them in the id, the address or the title. */
  words: readonly string[];
  account?: OneOrSome<string>;
  /** Their ids or names, in any case. */
  client?: OneOrSome<string>;
  tag?: OneOrSome<string>;
  connection?: OneOrSome<string>;
  /** The last sync that is known to have succeeded began before this time, or none is known. */
  notSyncedSince?: number | undefined;
  /** No backup is known to have succeeded since this time (`lastBackup`). */
  notBackedUpSince?: number | undefined;
  /** How the last run ended for it; `none`: no stored run has worked on it. */
  outcome?: OneOrSome<Outcome | 'none'>;
  /** Whether it has open findings. */
  findings?: boolean | undefined;
}

export interface ListedSite extends KnownTarget {
  /** When the sites of its account were read; missing while they never were. A site without `site` was gone then. */
  readAt?: number;
  /** The last run that worked on it and is still stored, with the result of the target. */
  last: { run: Run; target: Target } | undefined;
  /** In how many of its last 20 runs in a row it failed, the last one included. */
  streak: number;
  /** Open findings on it and its items. */
  findings: number;
}

export interface SitePage {
  sites: ListedSite[];
  /** How many match; missing with a filter that is not in memory, before an account was read, and where not all are seen. */
  found?: number;
  /** The `after` of the next page; missing at the end. */
  next?: string;
  /** The page is not full, because as many targets were looked at as one page may cost. */
  looked?: number;
  /** The accounts of the settings that the list is of, each with its last reading, and why it is not newer. */
  accounts: { account: string; reading?: SiteReading; notNewer?: string }[];
  /** The names of clients and tags that sites have, for who sees all of them. */
  names: SiteNames;
}

export type SitesDeps = SiteReadingDeps & Partial<AllPolicies> & { registry: Pick<Registry, 'get'> };
type Deps = SitesDeps & { records: Records; clock: { now(): number } };

/** At most this many targets are read for one page. */
const MAX_LOOKED = 2_000;
const CHUNK = 200;

/** The accounts of which a principal may see anything. Of a policy without a file the account is unknown. */
export const isSeenAccount = (principal: Principal, policies: SitesDeps['policies']) => (account: string) =>
  isPermitted(principal, 'viewer', { account }) ||
  (policies?.() ?? []).some(
    (one) => one.account === account && isPermitted(principal, 'viewer', { account, policy: one.name }),
  );

export async function listSites(
  deps: Deps,
  filter: SiteFilter,
  options: { limit: number; after?: string | undefined; descending: boolean; by: Principal },
): Promise<SitePage> {
  const { limit, after, descending, by } = options;
  const isSeen = isSeenAccount(by, deps.policies);
  const isListed = (name: string) => isSeen(name) && isAnyOf(filter.account, (some) => name === some);
  const present = Object.keys(deps.settings.accounts).filter(isListed);
  const notNewer = await readSites(deps, present);
  const index = openTargetIndex(deps.records, deps.clock);
  const { labels, accounts, readings, names } = await index.all(filter.words);
  const listed = new Set([...accounts.filter(isListed), ...present]);
  const unread = new Set(present.filter((name) => !readings.has(name)));
  const tests = testsOf(filter, unread);
  const matching = labels.filter((one) => listed.has(one.account) && tests.every((test) => test(one)));
  const ordered = descending ? matching.toReversed() : matching;
  const place = after === undefined ? undefined : placeIn(after);
  const isAfter = (one: KnownTarget) =>
    place === undefined || byLabel(one, place) * (descending ? -1 : 1) > 0;
  const from = ordered.findIndex(isAfter);
  const rest = from < 0 ? [] : from === 0 ? ordered : ordered.slice(from);
  const isPlain = filter.outcome === undefined && filter.findings === undefined;
  const { sites, looked } = await firstThatMatch(deps, rest, { ...options, filter, readings, isPlain });
  const last = rest[looked - 1];
  const isWhole = [...listed].every((account) => isPermitted(by, 'viewer', { account }));
  const isCounted = isPlain && isWhole && unread.size === 0;
  const count = () => matching.filter(({ site }) => (filter.kind === 'site') === (site !== undefined)).length;
  return {
    sites,
    accounts: present.map((account) => ({
      account,
      ...defined({ reading: readings.get(account), notNewer: notNewer.get(account) }),
    })),
    names: isPermitted(by, 'viewer') ? names : { clients: [], tags: [] },
    ...(isCounted ? { found: count() } : {}),
    ...(last && looked < rest.length ? { next: textOf(last) } : {}),
    ...(last && looked < rest.length && sites.length < limit ? { looked } : {}),
  };
}

/** The first of these targets that match, and how many were looked at. */
async function firstThatMatch(
  deps: Deps,
  targets: readonly KnownTarget[],
  given: {
    filter: SiteFilter;
    readings: ReadonlyMap<string, SiteReading>;
    limit: number;
    by: Principal;
    isPlain: boolean;
  },
): Promise<{ sites: ListedSite[]; looked: number }> {
  const { filter, readings, limit, by, isPlain } = given;
  const countFindings = await findingsCounter(deps.records, by);
  // Where no filter needs it, only what is listed costs the count.
  const isCountedFirst = filter.findings !== undefined;
  const sites: ListedSite[] = [];
  let looked = 0;
  const isOver = () => sites.length === limit || looked === MAX_LOOKED;
  for await (const some of withResults(deps, targets, by, isPlain ? limit : CHUNK)) {
    if (isCountedFirst) await countFindings(some);
    for (const site of some) {
      if (isOver()) break;
      looked += 1;
      const of = readings.get(site.account);
      if (matchesResults(deps, site, filter, of, by)) sites.push({ ...site, ...defined({ readAt: of?.at }) });
    }
    if (isOver()) break;
  }
  if (!isCountedFirst) await countFindings(sites);
  return { sites, looked };
}

const lowerCase = (text: string): string => text.toLowerCase();

/** Tells whether a client or tag has one of these ids or names, in any case. */
export function isCalled(wanted: OneOrSome<string>): (named: { id: string; name: string }) => boolean {
  const names = new Set([wanted ?? []].flat().map(lowerCase));
  return ({ id, name }) => names.has(lowerCase(id)) || names.has(lowerCase(name));
}

/** What can be told without reading: the kind, as far as it shows, and what the service showed. */
function testsOf(filter: SiteFilter, unread: ReadonlySet<string>): ((one: KnownTarget) => boolean)[] {
  const { kind, client, tag, connection, notSyncedSince, notBackedUpSince } = filter;
  const isKind = ({ site, target }: KnownTarget) =>
    kind === 'site' ? site !== undefined || !isPart(target) : site === undefined;
  const [isClient, isTag] = [isCalled(client), isCalled(tag)];
  const ofSite = (wanted: unknown, test: (site: SiteFacts) => boolean) =>
    wanted === undefined ? [] : [({ site }: KnownTarget) => site !== undefined && test(site)];
  // Times of the service are texts in one format, which sort as the times do. What is unknown is not counted as done: no
  // time, and a site of an account that was never read.
  const notSince = (since: number | undefined, timeOf: (site: SiteFacts) => string | undefined) => {
    if (since === undefined) return [];
    const before = isoTime(since);
    return [
      ({ site, account }: KnownTarget) =>
        site ? (timeOf(site) ?? '') < before : kind === 'site' && unread.has(account),
    ];
  };
  return [
    isKind,
    ...ofSite(client, (site) => site.client != null && isClient(site.client)),
    ...ofSite(tag, ({ tags = [] }) => tags.some(isTag)),
    ...ofSite(connection, (site) => isAnyOf(connection, (some) => site.connection === some)),
    ...notSince(notSyncedSince, syncedAt),
    ...notSince(notBackedUpSince, (site) => lastBackup(site).at),
  ];
}

/** Something of a site: an item of a list that it has, or what a check reports about it. */
const isPart = (target: string): boolean => siteIdIn(target) !== target;

/** When a sync last succeeded, as far as is known: the last one unless it failed, else that of the latest snapshot. */
function syncedAt({ last_sync_at: at, last_sync_status: status, latest_snapshot: snapshot }: SiteFacts) {
  if (at && status !== 'failed') return at;
  return snapshot?.status === 'succeeded' ? snapshot.created_at : undefined;
}

/**
 * When the last backup succeeded, as far as is known; else why none is. The service shows the latest snapshot only, and
 * gives nobody the snapshots of a site whose backups are off.
 */
export function lastBackup({
  backups_enabled: isOn,
  latest_snapshot: snapshot,
}: Pick<SiteFacts, 'backups_enabled' | 'latest_snapshot'>):
  | { at: string; why?: never }
  | { at?: never; why: string } {
  if (isOn === false) return { why: 'off' };
  if (snapshot === null) return { why: 'none' };
  const { created_at: at, status = 'not known' } = snapshot ?? {};
  if (status !== 'succeeded') return { why: status };
  return at ? { at } : { why: 'not known' };
}

/** What is wrong with a site by the service, the worst first; if nothing is, how it is connected. */
export function statesOf(site: Omit<SiteFacts, 'id' | 'title' | 'url'>): string[] {
  const { connection, scanner, locked, last_sync_status: sync, syncs_paused: isPaused } = site;
  const wrong = [
    scanner === 'hacked' && 'hacked',
    connection !== 'connected' && connection,
    sync === 'failed' && 'sync-failed',
    locked && 'locked',
    isPaused && 'syncs-paused',
  ].filter((one): one is string => typeof one === 'string');
  return wrong.length > 0 ? wrong : connection === undefined ? [] : [connection];
}

function matchesResults(
  { registry }: Deps,
  one: ListedSite,
  { kind, outcome, findings }: SiteFilter,
  reading: SiteReading | undefined,
  by: Principal,
): boolean {
  const { account, last, site } = one;
  // What is known by runs alone is seen with one of them.
  if (!last && !isPermitted(by, 'viewer', { account })) return false;
  if (!site && kind !== kindByRun(registry, one)) return false;
  return (
    isAnyOf(outcome, (some) => (last?.target.outcome ?? (last ? undefined : 'none')) === some) &&
    (findings === undefined || findings === one.findings > 0) &&
    (site !== undefined || last !== undefined || reading === undefined)
  );
}

/** Whether a target that is no site of its account now was one for the run that worked on it. */
function kindByRun(registry: Pick<Registry, 'get'>, { target, last }: ListedSite): SiteFilter['kind'] {
  if (isPart(target)) return 'other';
  if (last?.target.site !== undefined) return last.target.site === target ? 'site' : 'other';
  if (last === undefined) return 'site';
  const policy = policyOf(last.run);
  const job = jobOf(registry, policy);
  // A job that is no longer there: most work on sites.
  if (!job) return 'site';
  return !policy.select.forEach && candidatesOf(job, policy.select) === 'listSites' ? 'site' : 'other';
}

/** The targets with their last results of runs that are seen, read a chunk at a time. */
async function* withResults(
  { records }: Deps,
  labels: readonly KnownTarget[],
  by: Principal,
  chunk: number,
): AsyncGenerator<ListedSite[]> {
  const seesAll = ({ account }: { account: string }) => isPermitted(by, 'viewer', { account });
  const sees = ({ policy, account }: { policy: string; account: string }) =>
    isPermitted(by, 'viewer', { policy, account });
  /** What was read of runs, for one page. */
  const runs = new Map<string, Run | undefined>();
  for (let at = 0; at < labels.length; at += chunk) {
    const some = labels.slice(at, at + chunk);
    const ids = await Promise.all(some.map((one) => records.targets.runsOf(one.account, one.target)));
    // For a person who sees everything the last run is enough.
    const wanted = new Set(
      ids.flatMap((all, i) => (seesAll(some[i] as KnownTarget) ? all.slice(0, 1) : all)),
    );
    const unread = [...wanted].filter((id) => !runs.has(id));
    const read = new Map((await records.runs.many(unread)).map((run) => [run.id, run]));
    for (const id of unread) runs.set(id, read.get(id));
    const seen = some.map((label, i) =>
      (ids[i] ?? []).filter((id) => {
        const run = runs.get(id);
        return run ? sees(run) : seesAll(label);
      }),
    );
    const ends = await records.targets.ofRuns(
      some.map(({ target }, i) => [target, seen[i]?.slice(0, 1) ?? []]),
    );
    const failed = some.map(({ target }, i): [string, string[]] => [
      target,
      ends[i]?.[0]?.outcome === 'failed' ? (seen[i] ?? []) : [],
    ]);
    const before = await records.targets.ofRuns(failed);
    yield some.map((label, i): ListedSite => {
      const run = runs.get(seen[i]?.[0] ?? '');
      const target = ends[i]?.[0];
      return {
        ...label,
        last: run && target && { run, target },
        streak: streakOf(before[i] ?? []),
        findings: 0,
      };
    });
  }
}

/** Counts the open findings of policies that are seen, on each of some sites. */
async function findingsCounter({ openFindings }: Records, by: Principal) {
  const policies = (await openFindings.policies()).filter((one) => isPermitted(by, 'viewer', one));
  return async (sites: readonly ListedSite[]): Promise<void> => {
    for (const account of new Set(sites.map((one) => one.account))) {
      const here = sites.filter((one) => one.account === account);
      const counts = await openFindings.countOfSites(
        policies.filter((one) => one.account === account),
        here.flatMap(({ target }) => [target, targetOfSite(target)]),
      );
      for (const [i, one] of here.entries()) one.findings = (counts[2 * i] ?? 0) + (counts[2 * i + 1] ?? 0);
    }
  };
}

function streakOf(results: readonly (Target | undefined)[]): number {
  const first = results.findIndex((one) => one?.outcome !== 'failed');
  return first < 0 ? results.length : first;
}

const textOf = ({ label, account, target }: KnownTarget): string =>
  Buffer.from(JSON.stringify([label, account, target])).toString('base64url');

/** @throws {InvalidRequestError} */
function placeIn(after: string): KnownTarget {
  try {
    const value: unknown = JSON.parse(Buffer.from(after, 'base64url').toString());
    const [label, account, target] = value as [string, string, string];
    if ([label, account, target].every((one) => typeof one === 'string')) return { label, account, target };
  } catch {
    // Said below.
  }
  throw new InvalidRequestError('The page (after) must be the "next" of an earlier page.');
}
