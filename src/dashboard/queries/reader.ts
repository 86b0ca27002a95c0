/**
 * All that pages and JSON read from the records. Texts were redacted when they were recorded, and are redacted
 * again here, so that no handler has to.
 */

import type { Clock } from '../../clock.ts';
import { runsOfTarget } from '../../control/commands/list-runs.ts';
import { openTargetIndex } from '../../control/target-index.ts';
import { readTargetPage, type TargetPage, type TargetQuery } from '../../control/targets.ts';
import { defined } from '../../defined.ts';
import { pastCost } from '../../engine/plan/cost.ts';
import { siteIdIn } from '../../job/candidates.ts';
import type { Policy } from '../../policy/policy.ts';
import type { Blocked } from '../../records/account-store.ts';
import type { Totals } from '../../records/end-store.ts';
import type { Freeze } from '../../records/freeze-store.ts';
import type { ScheduledTime } from '../../records/ledger-store.ts';
import { supervisorLease } from '../../records/lock-store.ts';
import type { Depth } from '../../records/measurement-store.ts';
import type { PolicyRef, PolicyState } from '../../records/policy-store.ts';
import type { Presence } from '../../records/presence-store.ts';
import type { StoredPreview } from '../../records/preview-store.ts';
import type { Records } from '../../records/records.ts';
import type { RunQuery } from '../../records/run-query.ts';
import type { Excluded, ReasonCount } from '../../records/target-types.ts';
import type { PolicyVersion } from '../../records/version-store.ts';
import type { OutboxState } from '../../run/recordings.ts';
import type { Seen } from '../../run/rollout.ts';
import type { Run, RunStatus, Target } from '../../run/run.ts';
import { freezesBetween } from '../../schedule/maintenance.ts';
import type { UsualCost } from '../../schedule/predicted-runs.ts';
import { redact, scrubOnce } from '../../secrets.ts';
import { type FindingsReader, openFindingsReader } from './findings-reader.ts';
import { openSearchReader, type SearchReader, type TargetRun } from './search-reader.ts';

/** The state of an account without its budget. */
export interface AccountFacts {
  blocked?: Blocked;
  /** Runs that have not ended. */
  activeRuns: number;
  /** Those of them that are held until a person releases or cancels them. */
  heldRuns: readonly string[];
  /** What waits to be written to its sites (`record:`). */
  outbox: OutboxState;
  /** The process that supervises them now. */
  supervisor?: string;
  /** When a process last supervised them. */
  attendedAt?: number;
}

export interface Reader extends SearchReader {
  findings: FindingsReader;
  run(id: string): Promise<Run | undefined>;
  /** Newest first. */
  runs(query: RunQuery): Promise<Run[]>;
  /** Those of these runs that are still stored. */
  runsOf(ids: readonly string[]): Promise<Run[]>;
  /** Whether the run shows that what failed before it is well. */
  showsRecovery(run: Run): Promise<boolean>;
  /** The totals of what ended since the full hour before `from`, and the active runs. */
  totals(from: number, now: number): Promise<Totals>;
  /** How many stored runs have each status. */
  runsByStatus(): Promise<Map<RunStatus, number>>;
  /** For each of these runs, how many targets ended for which reason. */
  reasons(runs: readonly string[]): Promise<Map<string, ReasonCount[]>>;
  /** A page of a run's targets, in the order of the plan; its cost is bounded (`paging.ts`). */
  targets(run: string, query: TargetQuery): Promise<TargetPage>;
  allTargets(run: string): AsyncGenerator<Target>;
  /** The titles of the sites that some targets are, or belong to, by account and target. */
  titles(targets: readonly { account: string; target: string }[]): Promise<Titles>;
  excluded(run: string, limit: number): Promise<Excluded[]>;
  /** What the gates of a rollout saw, by the batch before each. */
  gates(run: string): Promise<ReadonlyMap<number, Seen[]>>;
  countExcluded(run: string): Promise<number>;
  /** The target in its last twenty runs, newest first, and in the run `also` in any case. */
  runsOfTarget(account: string, target: string, also?: string): Promise<TargetRun[]>;
  policyStates(policies: readonly PolicyRef[]): Promise<Map<string, PolicyState>>;
  /** The latest scheduled times of a policy, newest first; those before `before`, if it is given. */
  ledger(policy: string, limit: number, before?: number): Promise<ScheduledTime[]>;
  /** The last plan of the policy that a person made to look at it, if it was within a day. */
  preview(policy: string): Promise<StoredPreview | undefined>;
  /** Its scheduled times from `from` to `to`, oldest first, at most `limit`. */
  ledgerBetween(policy: string, from: number, to: number, limit: number): Promise<ScheduledTime[]>;
  /** What a run of the policy takes, by its last whole runs; at most a minute old. Undefined before one has ended. */
  usualCost(policy: Policy): Promise<UsualCost | undefined>;
  /** What a run was estimated to cost within a day. */
  estimatedCost(policy: Policy): Promise<number | undefined>;
  /** The stored versions of a policy, newest first. */
  versions(policy: string): Promise<PolicyVersion[]>;
  /** Of each account, in their order. What is the same for all of them is read once. */
  accounts(names: readonly string[]): Promise<AccountFacts[]>;
  /** The active freezes; with a span, also those of parts in it, past and planned. */
  freezes(now: number, span?: { from: number; to: number }): Promise<Freeze[]>;
  /** The running processes. */
  presence(now: number): Promise<Presence[]>;
  /** How many entries the queues had in each minute of the last hour. */
  queueDepths(now: number): Promise<{ at: number; depth?: Depth }[]>;
}

/** The title of a target's site, as the service last showed it. */
export type Titles = (account: string, target: string) => string | undefined;

export function openReader(records: Records, clock: Clock): Reader {
  async function* allTargets(run: string): AsyncGenerator<Target> {
    for await (const target of records.targets.all(run)) yield clean(target);
  }
  const index = openTargetIndex(records, clock);
  return {
    ...openSearchReader(records, clock, index),
    findings: openFindingsReader(records, clock),
    run: async (id) => clean(await records.runs.get(id)),
    runs: async (query) => clean(await records.runs.list(query)),
    runsOf: async (ids) => clean(await records.runs.many(ids)),
    showsRecovery: (run) => records.runs.showsRecovery(run),
    totals: (from, now) => records.totals.between(from, now),
    runsByStatus: () => records.runs.countByStatus(),
    reasons: async (runs) => (runs.length === 0 ? new Map() : await records.targets.reasons(runs)),
    targets: async (run, query) => clean(await readTargetPage(records.targets, run, query)),
    allTargets,
    async titles(targets) {
      const accounts = [...new Set(targets.map(({ account }) => account))];
      const read = accounts.map(async (account) => {
        const here = targets.filter((one) => one.account === account);
        const ids = [...new Set(here.map(({ target }) => siteIdIn(target)))];
        return [account, await records.sites.titles(account, ids)] as const;
      });
      const found = new Map(await Promise.all(read));
      return (account, target) => found.get(account)?.get(siteIdIn(target));
    },
    countExcluded: (run) => records.targets.countExcluded(run),
    gates: async (run) =>
      new Map([...(await records.batches.gates(run))].map(([batch, seen]) => [batch, clean(seen)])),
    excluded: async (run, limit) => clean(await records.targets.excluded(run, 0, limit)),
    runsOfTarget: async (account, target, also) =>
      clean(await runsOfTarget({ records }, { account, target, also })),
    ledger: async (policy, limit, before) => clean(await records.ledger.latest(policy, limit, before)),
    preview: async (policy) => clean(await records.previews.last(policy)),
    ledgerBetween: async (policy, from, to, limit) =>
      clean(await records.ledger.between(policy, from, to, limit)),
    usualCost: usualCosts(records, clock),
    estimatedCost: (policy) => records.previews.estimateOf(policy),
    versions: async (policy) => clean(await records.versions.all(policy)),
    policyStates: async (policies) => {
      const states =
        policies.length === 0 ? new Map<string, PolicyState>() : await records.policies.many(policies);
      return new Map([...states].map(([name, state]) => [name, clean(state)]));
    },
    async accounts(names) {
      const [blocked, runs, supervisors, supervisedAt, toRecord] = await Promise.all([
        records.accounts.blockedOf(names),
        records.runs.held(names),
        records.locks.holders(names.map(supervisorLease)),
        records.accounts.supervisedAt(),
        records.outbox.accounts(),
      ]);
      const outboxes = await Promise.all(
        names.map((name) => (toRecord.includes(name) ? records.outbox.state(name) : { waiting: 0 })),
      );
      return names.map((name, index) => ({
        activeRuns: runs[index]?.active ?? 0,
        heldRuns: runs[index]?.held ?? [],
        outbox: clean(outboxes[index] ?? { waiting: 0 }),
        ...defined({
          blocked: clean(blocked[index]),
          supervisor: supervisors[index],
          attendedAt: supervisedAt.get(name),
        }),
      }));
    },
    freezes: async (now, span) => {
      if (!span) return clean(await records.freeze.active(now));
      const whole = await records.freeze.at(now);
      return clean([...(whole ? [whole] : []), ...(await freezesBetween(records, { ...span, now }))]);
    },
    presence: (now) => records.presence.running(now),
    queueDepths: (now) => records.depths.lastHour(now),
  };
}

const COST_KEPT_MS = 60_000;
/** How many costs are kept: more than there are policies. */
const MAX_COSTS = 2_000;

/** Reading the last runs of a policy takes a command for each of them, so what they show is kept for a minute. */
function usualCosts(records: Records, clock: Clock): Reader['usualCost'] {
  const known = new Map<string, { at: number; cost: Promise<UsualCost | undefined> }>();
  return (policy) => {
    const key = `${policy.name} ${policy.account} ${policy.hash}`;
    const found = known.get(key);
    if (found && clock.now() - found.at < COST_KEPT_MS) return found.cost;
    if (known.size >= MAX_COSTS) known.clear();
    const cost = pastCost({ records }, policy);
    known.set(key, { at: clock.now(), cost });
    cost.catch(() => known.delete(key));
    return cost;
  };
}

/** Readers see the same texts again and again. */
const clean = <T>(value: T): T => redact(value, scrubOnce) as T;
