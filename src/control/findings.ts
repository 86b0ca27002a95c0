/**
 * The findings of all policies as a list: the most severe first, then by policy, in each the newest first. The page, the
 * command and the HTTP API list the same.
 */

import type { Acknowledgement, AcknowledgementStore } from '../records/acknowledgement-store.ts';
import { fieldOf, type KnownFinding } from '../records/finding-indexes.ts';
import { type FindingState, type Severity, severities } from '../records/finding-words.ts';
import type { FindingGroup, FindingPolicy, OpenFindingsStore } from '../records/open-findings-store.ts';
import { InvalidRequestError } from './errors.ts';

/** How long a finding is new after the start of the run that saw it first. */
export const NEW_MS = 86_400_000;
/** Resolved findings are listed for this long. */
export const RESOLVED_SHOWN_MS = 7 * 86_400_000;

export interface FindingFilter {
  severity?: Severity | undefined;
  policy?: string | undefined;
  account?: string | undefined;
  /** A part of the target's id or label, of what the finding is about, or of its message; in any case. */
  search?: string | undefined;
  /** Default: all that are not resolved. */
  state?: FindingState | undefined;
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

/** How many of a group somebody has to look at: those that nobody has acknowledged. */
export const unacknowledged = ({ open, acknowledged }: CountedGroup): number => open - acknowledged;
export const newUnacknowledged = (group: CountedGroup): number => group.new - group.newAcknowledged;

export interface FindingPage {
  findings: ListedFinding[];
  /** The `after` of the next page; missing at the end. */
  next?: string;
  /** The page is not full, because as many findings were looked at as one page may cost. */
  looked?: number;
}

/** At most so many findings are read for one page. */
const MAX_LOOKED = 5_000;
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
  const wanted = groups.filter((one) => severity === undefined || one.severity === severity).sort(inOrder);
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
      (policy === undefined || one.policy === policy) &&
      (account === undefined || one.account === account),
  );

const placeOf = (severity: Severity): number => severities.indexOf(severity);
type GroupName = Pick<FindingGroup, 'severity' | 'policy' | 'account'>;

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
  /** The groups of the same filter, if they were read already. */
  groups?: readonly CountedGroup[];
}

/**
 * A page of findings. A finding that is there all the time is on one page exactly, unless others before it in its
 * group are new or resolved meanwhile and the last one of the page is resolved too.
 *
 * @throws {InvalidRequestError} when `after` is not the `next` of a page.
 */
export async function listFindings(
  records: Records,
  filter: FindingFilter,
  { limit, after, now, sees, groups: known }: ListOptions,
): Promise<FindingPage> {
  const place = after === undefined ? undefined : placeIn(after);
  if (filter.state === 'resolved' || filter.state === 'acknowledged') {
    const few = filter.state === 'resolved' ? resolvedOf(records, now) : acknowledgedOf(records, now);
    return sortedPage(few, await policiesOf(records, filter, sees), filter, { limit, place });
  }
  const groups = known ?? (await findingGroups(records, filter, now, sees));
  const findings: ListedFinding[] = [];
  let looked = 0;
  let listed: Place | undefined;
  // Without a text to search for, the first ones are the page.
  const chunk = filter.search === undefined ? Math.min(limit + 1, CHUNK) : CHUNK;
  for await (const { finding, place: at } of openFrom(records, groups, filter, { place, now, chunk })) {
    looked += 1;
    if (matches(finding, filter)) {
      if (findings.length === limit) return { findings, ...(listed ? { next: textOf(listed) } : {}) };
      findings.push(finding);
      listed = at;
    }
    if (looked >= MAX_LOOKED) return { findings, next: textOf(at), looked };
  }
  return { findings };
}

/** The open findings of the groups with their places, from a place on. */
async function* openFrom(
  records: Records,
  groups: readonly FindingGroup[],
  { state }: FindingFilter,
  { place, now, chunk }: { place: Place | undefined; now: number; chunk: number },
): AsyncGenerator<{ finding: ListedFinding; place: Place }> {
  for (const group of groups) {
    const order = place ? inOrder(group, place) : 1;
    if (order < 0) continue;
    yield* ranked(records, group, {
      after: order === 0 ? place : undefined,
      ...{ state, now, chunk },
      acknowledged: await records.acknowledgements.of(group, now),
    });
  }
}

/** Until the end of the group as it is when that is reached: others may be new or resolved meanwhile. */
async function* ranked(
  { openFindings }: Pick<Records, 'openFindings'>,
  group: FindingGroup,
  {
    after,
    state,
    now,
    chunk,
    acknowledged,
  }: {
    after: Place | undefined;
    state: FindingState | undefined;
    now: number;
    chunk: number;
    acknowledged: ReadonlyMap<string, Acknowledgement>;
  },
): AsyncGenerator<{ finding: ListedFinding; place: Place }> {
  const start = state === 'open' ? { newerThan: now - NEW_MS } : {};
  for (let last = after; ; ) {
    // If the last one was resolved, what came after it has its rank.
    const from = last ? { after: last.field, from: Math.max(0, last.rank - 1) } : start;
    const { rank, findings, isLast } = await openFindings.page(group, from, chunk);
    for (const [index, one] of findings.entries()) {
      if (state === 'new' && one.since <= now - NEW_MS) return;
      last = {
        ...{ ...ofPolicy(group), severity: group.severity },
        ...{ rank: rank + index + 1, field: fieldOf(one) },
      };
      yield { finding: { ...one, ...ofPolicy(group), ...standingOf(one, acknowledged, now) }, place: last };
    }
    if (isLast) return;
  }
}

/** Whether an open finding is new, or acknowledged as it is now. */
function standingOf(
  one: KnownFinding,
  acknowledged: ReadonlyMap<string, Acknowledgement>,
  now: number,
): Pick<ListedFinding, 'state' | 'acknowledged'> {
  const known = acknowledged.get(fieldOf(one));
  if (known?.since === one.since) return { state: 'acknowledged', acknowledged: known };
  return { state: one.since > now - NEW_MS ? 'new' : 'open' };
}

const ofPolicy = ({ account, policy }: FindingPolicy): FindingPolicy => ({ account, policy });

/** Every finding that matches: for a file. */
export async function* allFindings(
  records: Records,
  filter: FindingFilter,
  { now, sees }: { now: number; sees: Sees },
): AsyncGenerator<ListedFinding> {
  let after: string | undefined;
  do {
    const page = await listFindings(records, filter, { limit: 1_000, after, now, sees });
    yield* page.findings;
    after = page.next;
  } while (after !== undefined);
}

/** The open findings on a site, of all policies that the reader may see; at most 100 of each policy. */
export async function findingsOfSite(
  { openFindings, acknowledgements }: Records,
  account: string,
  site: string,
  { now, sees }: { now: number; sees: Sees },
): Promise<ListedFinding[]> {
  const policies = (await openFindings.policies()).filter((one) => one.account === account && sees(one));
  const found = await Promise.all(
    policies.map(async (of) => {
      const [open, known] = await Promise.all([openFindings.ofSite(of, site), acknowledgements.of(of, now)]);
      return open.map((one): ListedFinding => ({ ...one, ...of, ...standingOf(one, known, now) }));
    }),
  );
  return found.flat().sort((a, b) => inOrder(a, b) || b.since - a.since);
}

function matches(
  { target, label, about, message, state }: ListedFinding,
  { search, state: wanted }: FindingFilter,
): boolean {
  if (wanted !== undefined && state !== wanted) return false;
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
    .filter((one) => (severity === undefined || one.severity === severity) && matches(one, filter))
    .sort((a, b) => at(b) - at(a) || compare(fieldOf(a), fieldOf(b)));
  const from = place?.rank ?? 0;
  const findings = all.slice(from, from + limit);
  const last = findings.at(-1);
  if (!last || all.length <= from + limit) return { findings };
  return { findings, next: textOf({ ...last, rank: from + limit, field: fieldOf(last) }) };
}
