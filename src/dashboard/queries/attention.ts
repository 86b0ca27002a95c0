/**
 * What a person should look at: one item for each policy. It is put together from the totals of the
 * last day, the active runs, the states of the policies and the broken files; only the runs of the items that are
 * shown are read.
 */

import { type CountedGroup, unacknowledged } from '../../control/findings.ts';
import type { Policy } from '../../policy/policy.ts';
import { type Pause, type PolicyState, pauseAt } from '../../records/policy-store.ts';
import { isFinal, type ShownStatus } from '../../run/moves.ts';
import type { Reason } from '../../run/reasons.ts';
import { lastApproval } from '../../run/rollout.ts';
import type { Run } from '../../run/run.ts';
import type { BrokenFile, Health } from '../options.ts';
import type { Day } from './last-day.ts';
import type { Reader } from './reader.ts';

/** How many items are shown with their details. */
const MAX_DETAILED = 10;
/** How many runs of a policy are read, to count those in a row. */
const MAX_STREAK = 6;

/** How many targets failed for a reason in the latest run in which any did. */
export interface FailedTargets {
  reason: Reason;
  count: number;
  latest: string;
}

/** What failed of a policy. */
export interface FailedItem {
  is: 'failed';
  policy: string;
  /** By reason, the most first; none: the run failed as a whole. */
  targets: readonly FailedTargets[];
  /** How the runs ended that have no failed targets. */
  status?: ShownStatus;
  /** The id of the latest run. */
  latest: string;
  /** Its open errors and warnings. */
  findings: readonly CountedGroup[];
  /** Missing where nothing more was read: only the first items have it. */
  details?: {
    /** The latest run, if it is still stored. */
    run: Run | undefined;
    /** Since when every run of the policy failed, at least in part. */
    since: number | undefined;
    /** How many runs in a row. */
    streak: number;
    /** There may be more in a row than were read. */
    isOpen: boolean;
    /** A later run of the policy succeeded as a whole. */
    recovered: boolean;
  };
}

export type Item =
  | FailedItem
  | { is: 'approval'; run: Run; since: number | undefined }
  | { is: 'moved-account'; account: string; sentence: string }
  | { is: 'broken-file'; file: BrokenFile }
  | { is: 'findings'; groups: readonly [CountedGroup, ...CountedGroup[]] }
  | { is: 'paused'; policy: Policy; pause: Pause };

interface Sources {
  day: Day;
  policies: readonly Policy[];
  states: ReadonlyMap<string, PolicyState>;
  brokenFiles: readonly BrokenFile[];
  moved: Health['moved'];
  now: number;
}

/** What only a person can decide or repair first, then what failed, most targets first, then open findings. */
export async function readAttention(reader: Reader, sources: Sources): Promise<Item[]> {
  const { day, policies, states, brokenFiles, moved, now } = sources;
  const findings = await seriousFindings(reader, policies);
  const failed = await withDetails(reader, await failedItems(reader, day, findings), states);
  const failing = new Set(failed.map(({ policy }) => policy));
  const approvals = day.active
    .filter(({ status }) => status === 'awaiting-approval')
    .map((run): Item => ({ is: 'approval', run, since: lastApproval(run)?.since }));
  const paused = policies.flatMap((policy): Item[] => {
    const pause = pauseAt(states.get(policy.name), now);
    return pause ? [{ is: 'paused', policy, pause }] : [];
  });
  return [
    ...approvals,
    ...moved.map((one): Item => ({ is: 'moved-account', ...one })),
    ...brokenFiles.map((file): Item => ({ is: 'broken-file', file })),
    ...failed.filter(({ details }) => !details?.recovered),
    ...[...findings].flatMap(([policy, groups]): Item[] =>
      failing.has(policy) ? [] : [{ is: 'findings', groups }],
    ),
    ...paused,
    ...failed.filter(({ details }) => details?.recovered),
  ];
}

type Findings = ReadonlyMap<string, [CountedGroup, ...CountedGroup[]]>;

/** The errors and warnings of active policies, by policy, the most severe first. */
async function seriousFindings(reader: Reader, policies: readonly Policy[]): Promise<Findings> {
  const active = new Set(policies.map(({ account, name }) => `${account}\n${name}`));
  const found = new Map<string, [CountedGroup, ...CountedGroup[]]>();
  for (const group of await reader.findings.groups({})) {
    const { severity, account, policy } = group;
    if (severity === 'info' || !active.has(`${account}\n${policy}`) || unacknowledged(group) === 0) continue;
    const known = found.get(policy);
    if (known) known.push(group);
    else found.set(policy, [group]);
  }
  return found;
}

/** The statuses of whole runs that a person should look at. */
const bad: readonly ShownStatus[] = ['failed', 'stopped', 'blocked'];

async function failedItems(
  reader: Reader,
  { failed, unsuccessful }: Day,
  findings: Findings,
): Promise<FailedItem[]> {
  const all = failed.flatMap(({ reason, policies }) => policies.map((one) => ({ ...one, reason })));
  // Its runs of the day and their retries may have failed for the same targets again and again: the latest run counts.
  const reasons = await reader.reasons([...new Set(all.map(({ latest }) => latest))]);
  const byPolicy = new Map<string, FailedTargets[]>();
  for (const { policy, latest, count, reason } of all) {
    const now = reasons.get(latest)?.find((one) => one.outcome === 'failed' && one.reason === reason);
    const known = byPolicy.get(policy) ?? [];
    byPolicy.set(policy, [...known, { reason, count: now?.count ?? count, latest }]);
  }
  const most = (targets: readonly FailedTargets[]) => targets[0]?.count ?? 0;
  const ofTargets = [...byPolicy].map(([policy, some]): FailedItem => {
    const targets = some.sort((a, b) => b.count - a.count);
    const latest = targets[0]?.latest ?? '';
    return { is: 'failed', policy, targets, latest, findings: findings.get(policy) ?? [] };
  });
  const byRun = unsuccessful
    // A run whose targets failed is there already.
    .filter(({ status, policy }) => bad.includes(status) && !byPolicy.has(policy))
    .map(({ policy, status, latest }): FailedItem => {
      return { is: 'failed', policy, targets: [], status, latest, findings: findings.get(policy) ?? [] };
    });
  return [...byRun, ...ofTargets.sort((a, b) => most(b.targets) - most(a.targets))];
}

async function withDetails(
  reader: Reader,
  items: readonly FailedItem[],
  states: ReadonlyMap<string, PolicyState>,
): Promise<FailedItem[]> {
  const first = items.slice(0, MAX_DETAILED);
  const names = [...new Set(first.map(({ policy }) => policy))];
  const lists = await Promise.all(names.map((policy) => reader.runs({ policy, limit: MAX_STREAK })));
  const runsOf = new Map(names.map((name, index) => [name, lists[index] ?? []]));
  const detailed = await Promise.all(
    first.map(async (item): Promise<FailedItem> => {
      const runs = runsOf.get(item.policy) ?? [];
      const failures = states.get(item.policy)?.failures ?? 0;
      return { ...item, details: await detailsOf(reader, item, runs, failures) };
    }),
  );
  return [...detailed, ...items.slice(MAX_DETAILED)];
}

async function detailsOf(
  reader: Reader,
  { latest }: FailedItem,
  runs: readonly Run[],
  failures: number,
): Promise<NonNullable<FailedItem['details']>> {
  const recoveries = await Promise.all(runs.map((run) => reader.showsRecovery(run)));
  const firstGood = recoveries.indexOf(true);
  const inARow = (firstGood < 0 ? runs : runs.slice(0, firstGood)).filter(
    ({ status }) => isFinal(status) && !['succeeded', 'skipped', 'cancelled'].includes(status),
  );
  const at = runs.findIndex(({ id }) => id === latest);
  return {
    run: runs[at],
    since: inARow.at(-1)?.createdAt,
    streak: Math.max(inARow.length, failures),
    isOpen: firstGood < 0 && runs.length === MAX_STREAK && failures <= inARow.length,
    recovered: firstGood >= 0 && firstGood < at,
  };
}
