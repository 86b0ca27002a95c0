/**
 * The findings of all policies as a list: the most severe first, then by policy, in each the newest first. The page, the
 * command and the HTTP API list the same.
 */

import { targetOfSite } from '../job/candidates.ts';
import type { Acknowledgement, AcknowledgementStore } from '../records/acknowledgement-store.ts';
import {
  type FindingState,
  isAnyOf,
  type OneOrSome,
  type Severity,
  severities,
} from '../records/filter-values.ts';
import { fieldOf, type KnownFinding } from '../records/finding-indexes.ts';
import type {
  FindingGroup,
  FindingPolicy,
  GroupName,
  ListedGroup,
  OpenFindingsStore,
} from '../records/open-findings-store.ts';
import { InvalidRequestError } from './errors.ts';

/** How long a finding is new after the start of the run that saw it first. */
export const NEW_MS = 86_400_000;
/** Resolved findings are listed for this long. */
export const RESOLVED_SHOWN_MS = 7 * 86_400_000;

export interface FindingFilter {
  severity?: OneOrSome<Severity>;
  policy?: OneOrSome<string>;
  account?: OneOrSome<string>;
  /** A part of the target's id or label, of what the finding is about, or of its message; in any case. */
  search?: string | undefined;
  /** First seen at or after this time, or before it. */
  since?: number | undefined;
  until?: number | undefined;
  /** Default: all that are not resolved. Those that are resolved are listed alone. */
  state?: OneOrSome<FindingState>;
}

export interface ListedFinding extends KnownFinding, FindingPolicy {
  state: FindingState;
  acknowledged?: Acknowledgement;
  resolvedAt?: number;
}

/** A group of findings. `open` and `new` have the acknowledged ones in them, as the indexes have. */
export interface CountedGroup extends FindingGroup {
  acknowledged: number;
  /** Those that are new and acknowledged. */
  newAcknowledged: number;
}

/** How many of a group a person has to look at: those that no one has acknowledged. */
export const unacknowledged = ({ open, acknowledged }: CountedGroup): number => open - acknowledged;
export const newUnacknowledged = (group: CountedGroup): number => group.new - group.newAcknowledged;

export interface FindingPage {
  findings: ListedFinding[];
  /** The `after` of the next page; missing at the end. */
  next?: string;
  /** The page is not full, because as many findings were looked at as one page may cost. */
  looked?: number;
}

/** At most this many findings are read for one page. */
const MAX_LOOKED = 5_000;
/** How many are read at once. */
const CHUNK = 250;

type Records = { openFindings: OpenFindingsStore; acknowledgements: AcknowledgementStore };
/** Whether the reader may see what the policy does in the account. */
export type Sees = (of: FindingPolicy) => boolean;

/** The groups with open findings, the most severe first, then by policy. */
export async function findingGroups(
  records: Records,
  filter: Pick<FindingFilter, 'severity' | 'policy' | 'account'>,
  now: number,
  sees: Sees,
): Promise<CountedGroup[]> {
  const policies = await policiesOf(records, filter, sees);
  const groups = await records.openFindings.groups(policies, now - NEW_MS);
  const { severity } = filter;
  const wanted = groups.filter((one) => isAnyOf(severity, (some) => one.severity === some)).sort(inOrder);
  return Promise.all(
    wanted.map(async ({ hasAcknowledged, ...group }) => ({
      ...group,
      ...(hasAcknowledged ? await countAcknowledged(records, group, now) : noneAcknowledged),
    })),
  );
}

const noneAcknowledged = { acknowledged: 0, newAcknowledged: 0 };

/** How many of the open findings of a group are acknowledged. Costs one command, and one more if there are some. */
export async function countAcknowledged(
  { openFindings, acknowledgements }: Records,
  group: GroupName,
  now: number,
): Promise<Pick<CountedGroup, 'acknowledged' | 'newAcknowledged'>> {
  const all = [...(await acknowledgements.of(group, now))];
  const since = await openFindings.sinceOf(
    group,
    all.map(([field]) => field),
  );
  const counted = all.flatMap(([, one], i) => (since[i] === one.since ? [one.since] : []));
  return {
    acknowledged: counted.length,
    newAcknowledged: counted.filter((at) => at > now - NEW_MS).length,
  };
}

const policiesOf = async (
  { openFindings }: Pick<Records, 'openFindings'>,
  { policy, account }: FindingFilter,
  sees: Sees,
): Promise<FindingPolicy[]> =>
  (await openFindings.policies()).filter(
    (one) =>
      sees(one) &&
      isAnyOf(policy, (some) => one.policy === some) &&
      isAnyOf(account, (some) => one.account === some),
  );

const placeOf = (severity: Severity): number => severities.indexOf(severity);
const inOrder = (a: GroupName, b: GroupName): number =>
  placeOf(a.severity) - placeOf(b.severity) || compare(a.policy, b.policy) || compare(a.account, b.account);

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** Where a page begins: after this finding of a group. */
interface Place extends GroupName {
  rank: number;
  field: string;
}

interface ListOptions {
  limit: number;
  /** The `next` of the page before. */
  after?: string | undefined;
  now: number;
  sees: Sees;
}

/**
 * A page of findings. Which ones it has is read at one moment, so that none is missed whose severity changes. From
 * page to page, a finding that is there all the time is on one page exactly, unless meanwhile
 *
 * - its severity changes: it can be on two pages, or on none when it becomes more severe,
 * - others before it in its group are new or resolved, and the last one of the page leaves the group too.
 *
 * @throws {InvalidRequestError} when `after` is not the `next` of a page.
 */
export async function listFindings(
  records: Records,
  filter: FindingFilter,
  { limit, after, now, sees }: ListOptions,
): Promise<FindingPage> {
  const place = after === undefined ? undefined : placeIn(after);
  const policies = await policiesOf(records, filter, sees);
  const state = onlyStateOf(filter);
  if (state === 'resolved' || state === 'acknowledged') {
    const few = state === 'resolved' ? resolvedOf(records, now) : acknowledgedOf(records, now);
    return sortedPage(few, policies, filter, { limit, place });
  }
  const groups = severities
    .filter((severity) => isAnyOf(filter.severity, (some) => severity === some))
    .flatMap((severity) => policies.map((of): GroupName => ({ ...of, severity })))
    .filter((group) => !place || inOrder(group, place) >= 0)
    .sort(inOrder);
  // Without a text or a state, the first ones are the page, but for those that are resolved meanwhile.
  const isPlain = [filter.search, filter.state, filter.since, filter.until].every((one) => one === undefined);
  const count = isPlain ? limit + CHUNK : MAX_LOOKED;
  const [first] = groups;
  const isInFirst = place && first && inOrder(first, place) === 0;
  const found = await records.openFindings.list(groups, {
    // If the last one was resolved, what came after it has its rank.
    after: isInFirst ? { field: place.field, rank: Math.max(0, place.rank - 1) } : undefined,
    ...{ state, newSince: now - NEW_MS, count },
  });
  const findings: ListedFinding[] = [];
  let listed: Place | undefined;
  const chunk = isPlain ? Math.min(limit + 1, CHUNK) : CHUNK;
  const options = { now, chunk, search: filter.search };
  for await (const { finding, place: at } of stillOpen(records, found, options)) {
    if (!matches(finding, filter)) continue;
    if (findings.length === limit) return { findings, ...(listed ? { next: textOf(listed) } : {}) };
    findings.push(finding);
    listed = at;
  }
  const looked = found.reduce((sum, { fields }) => sum + fields.length, 0);
  const last = found.at(-1);
  if (looked < count || !last) return { findings };
  return { findings, next: textOf(placeOfField(last, last.fields.length - 1)), looked };
}

/** The state that is asked for; undefined for several. @throws {InvalidRequestError} */
function onlyStateOf({ state = [] }: FindingFilter): FindingState | undefined {
  const [first, ...others] = [state].flat();
  if (others.length === 0) return first;
  if (first !== 'resolved' && !others.includes('resolved')) return undefined;
  throw new InvalidRequestError('Resolved findings are listed alone: leave out the other states.');
}

const placeOfField = ({ group, rank, fields }: ListedGroup, index: number): Place => ({
  ...group,
  ...{ rank: rank + index + 1, field: fields[index] ?? '' },
});

/** The listed findings as they are now, but for those that were resolved since. */
async function* stillOpen(
  { openFindings, acknowledgements }: Records,
  found: readonly ListedGroup[],
  { now, chunk, search }: { now: number; chunk: number; search?: string | undefined },
): AsyncGenerator<{ finding: ListedFinding; place: Place }> {
  for (const listed of found) {
    const { group, fields } = listed;
    const acknowledged = await acknowledgements.of(group, now);
    for (let from = 0; from < fields.length; from += chunk) {
      const some = await openFindings.some(group, fields.slice(from, from + chunk), search);
      const known = new Map(some.map((one) => [fieldOf(one), one]));
      for (let index = from; index < Math.min(from + chunk, fields.length); index += 1) {
        const one = known.get(fields[index] ?? '');
        if (!one) continue;
        const finding = { ...one, ...ofPolicy(group), ...standingOf(one, acknowledged, now) };
        yield { finding, place: placeOfField(listed, index) };
      }
    }
  }
}

/** Whether an open finding is new, or acknowledged as it is now. */
export function standingOf(
  one: KnownFinding,
  acknowledged: ReadonlyMap<string, Acknowledgement>,
  now: number,
): Pick<ListedFinding, 'state' | 'acknowledged'> {
  const known = acknowledged.get(fieldOf(one));
  if (known?.since === one.since) return { state: 'acknowledged', acknowledged: known };
  return { state: one.since > now - NEW_MS ? 'new' : 'open' };
}

const ofPolicy = ({ account, policy }: FindingPolicy): FindingPolicy => ({ account, policy });

/** The open findings on a site, of all policies that the reader may see; at most 200 of each policy. */
export async function findingsOfSite(
  { openFindings, acknowledgements }: Records,
  account: string,
  site: string,
  { now, sees }: { now: number; sees: Sees },
): Promise<ListedFinding[]> {
  const policies = (await openFindings.policies()).filter((one) => one.account === account && sees(one));
  const found = await Promise.all(
    policies.map(async (of) => {
      const [known, ...open] = await Promise.all([
        acknowledgements.of(of, now),
        openFindings.ofSite(of, site),
        openFindings.ofSite(of, targetOfSite(site)),
      ]);
      return open.flat().map((one): ListedFinding => ({ ...one, ...of, ...standingOf(one, known, now) }));
    }),
  );
  return found.flat().sort((a, b) => inOrder(a, b) || b.since - a.since);
}

function matches(
  { target, label, about, message, state, since: seen }: ListedFinding,
  {
    search,
    state: wanted,
    since = Number.NEGATIVE_INFINITY,
    until = Number.POSITIVE_INFINITY,
  }: FindingFilter,
): boolean {
  if (seen < since || seen >= until) return false;
  if (!isAnyOf(wanted, (some) => state === some)) return false;
  if (search === undefined) return true;
  const text = [target, label, about, message].join('\n').toLowerCase();
  return text.includes(search.toLowerCase());
}

const textOf = ({ severity, policy, account, rank, field }: Place): string =>
  Buffer.from(JSON.stringify([severity, policy, account, rank, field])).toString('base64url');

/** @throws {InvalidRequestError} */
function placeIn(after: string): Place {
  try {
    const value: unknown = JSON.parse(Buffer.from(after, 'base64url').toString());
    const [severity, policy, account, rank, field] = value as [Severity, string, string, number, string];
    if (severities.includes(severity) && [policy, account, field].every((one) => typeof one === 'string'))
      return { severity, policy, account, rank: Math.max(0, Math.trunc(Number(rank)) || 0), field };
  } catch {
    // Said below.
  }
  throw new InvalidRequestError('The page (after) must be the "next" of an earlier page.');
}

/** Findings of which there are few, and the time by which they are in order. */
interface FewFindings {
  of: (policy: FindingPolicy) => Promise<ListedFinding[]>;
  at: (one: ListedFinding) => number;
}

/** Findings that were resolved in the last seven days. There are at most 200 of each policy. */
const resolvedOf = ({ openFindings }: Records, now: number): FewFindings => ({
  of: async (policy) =>
    (await openFindings.resolved(policy, now - RESOLVED_SHOWN_MS)).map((one) => ({
      ...one,
      ...policy,
      state: 'resolved',
    })),
  at: (one) => one.resolvedAt ?? 0,
});

/** The acknowledged findings. There are at most 1,000 of each policy. */
const acknowledgedOf = ({ openFindings, acknowledgements }: Records, now: number): FewFindings => ({
  of: async (policy) => {
    const known = await acknowledgements.of(policy, now);
    const open = await openFindings.some(policy, [...known.keys()]);
    return open.map((one) => ({ ...one, ...policy, ...standingOf(one, known, now) }));
  },
  at: (one) => one.acknowledged?.at ?? 0,
});

/** A page of few findings, those with the latest time first. */
async function sortedPage(
  { of, at }: FewFindings,
  policies: readonly FindingPolicy[],
  filter: FindingFilter,
  { limit, place }: { limit: number; place: Place | undefined },
): Promise<FindingPage> {
  const { severity } = filter;
  const all = (await Promise.all(policies.map(of)))
    .flat()
    .filter((one) => isAnyOf(severity, (some) => one.severity === some) && matches(one, filter))
    .sort((a, b) => at(b) - at(a) || compare(fieldOf(a), fieldOf(b)));
  const from = place?.rank ?? 0;
  const findings = all.slice(from, from + limit);
  const last = findings.at(-1);
  if (!last || all.length <= from + limit) return { findings };
  return { findings, next: textOf({ ...last, rank: from + limit, field: fieldOf(last) }) };
}
