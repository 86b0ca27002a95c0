/**
 * All that pages and JSON read from the records. Texts were redacted when they were recorded, and are redacted
 * again here, so that no handler has to.
 */

import { supervisorLease } from '../../engine/supervise/lease.ts';
import type { Blocked } from '../../records/account-store.ts';
import type { Freeze } from '../../records/freeze-store.ts';
import type { ScheduledTime } from '../../records/ledger-store.ts';
import type { PolicyRef, PolicyState } from '../../records/policy-store.ts';
import type { Presence } from '../../records/presence-store.ts';
import type { ReasonCount } from '../../records/reason-count.ts';
import type { Records } from '../../records/records.ts';
import type { RunQuery } from '../../records/run-store.ts';
import type { Excluded } from '../../records/target-types.ts';
import type { Totals } from '../../records/totals-store.ts';
import type { OutboxState } from '../../run/recordings.ts';
import type { Run, RunStatus, Target } from '../../run/run.ts';
import { redact } from '../../secrets.ts';
import { readTargetPage, type TargetPage, type TargetQuery } from './paging.ts';

/** The state of an account besides its budget. */
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

/** A target with the run that worked on it. */
export interface TargetRun {
  run: Run;
  target: Target;
}

export interface Reader {
  run(id: string): Promise<Run | undefined>;
  /** Newest first. */
  runs(query: RunQuery): Promise<Run[]>;
  /** Those of these runs that are still stored. */
  runsOf(ids: readonly string[]): Promise<Run[]>;
  /** The totals of what ended since the full hour before `from`, and the active runs. */
  totals(from: number, now: number): Promise<Totals>;
  /** How many stored runs have each status. */
  runsByStatus(): Promise<Map<RunStatus, number>>;
  /** For each of these runs, how many targets ended for which reason. */
  reasons(runs: readonly string[]): Promise<Map<string, ReasonCount[]>>;
  /** A page of a run's targets, in the order of the plan; its cost is bounded (`paging.ts`). */
  targets(run: string, query: TargetQuery): Promise<TargetPage>;
  allTargets(run: string): AsyncGenerator<Target>;
  excluded(run: string, limit: number): Promise<Excluded[]>;
  countExcluded(run: string): Promise<number>;
  /** The target in its last twenty runs, newest first, and in the run `also` in any case. */
  runsOfTarget(account: string, target: string, also?: string): Promise<TargetRun[]>;
  policyStates(policies: readonly PolicyRef[]): Promise<Map<string, PolicyState>>;
  /** The latest scheduled times of a policy, newest first. */
  ledger(policy: string, limit: number): Promise<ScheduledTime[]>;
  account(name: string): Promise<AccountFacts>;
  /** The active freezes. */
  freezes(now: number): Promise<Freeze[]>;
  /** The running processes. */
  presence(now: number): Promise<Presence[]>;
}

export function openReader(records: Records): Reader {
  async function* allTargets(run: string): AsyncGenerator<Target> {
    for await (const target of records.targets.all(run)) yield clean(target);
  }
  return {
    run: async (id) => clean(await records.runs.get(id)),
    runs: async (query) => clean(await records.runs.list(query)),
    runsOf: async (ids) => clean(await records.runs.many(ids)),
    totals: (from, now) => records.totals.between(from, now),
    runsByStatus: () => records.runs.countByStatus(),
    reasons: async (runs) => (runs.length === 0 ? new Map() : await records.targets.reasons(runs)),
    targets: async (run, query) => clean(await readTargetPage(records.targets, run, query)),
    allTargets,
    countExcluded: (run) => records.targets.countExcluded(run),
    excluded: async (run, limit) => clean(await records.targets.excluded(run, 0, limit)),
    async runsOfTarget(account, id, also) {
      const known = await records.targets.runsOf(account, id);
      const runs = also === undefined || known.includes(also) ? known : [also, ...known];
      const targetRuns = await Promise.all(
        runs.map(async (runId): Promise<TargetRun | undefined> => {
          const [run, target] = await Promise.all([records.runs.get(runId), records.targets.get(runId, id)]);
          return run?.account === account && target ? { run, target } : undefined;
        }),
      );
      return clean(targetRuns.filter((targetRun) => targetRun !== undefined));
    },
    ledger: async (policy, limit) => clean(await records.ledger.latest(policy, limit)),
    policyStates: async (policies) => {
      const states =
        policies.length === 0 ? new Map<string, PolicyState>() : await records.policies.many(policies);
      return new Map([...states].map(([name, state]) => [name, clean(state)]));
    },
    async account(name) {
      const [blocked, activeRuns, heldRuns, supervisor, attended, outbox] = await Promise.all([
        records.accounts.blocked(name),
        records.runs.countActive(name),
        records.runs.held(name),
        records.locks.holder(supervisorLease(name)),
        records.accounts.supervisedAt(),
        records.outbox.state(name),
      ]);
      const attendedAt = attended.get(name);
      return {
        activeRuns,
        heldRuns,
        outbox: clean(outbox),
        ...(blocked ? { blocked: clean(blocked) } : {}),
        ...(supervisor === undefined ? {} : { supervisor }),
        ...(attendedAt === undefined ? {} : { attendedAt }),
      };
    },
    freezes: async (now) => clean(await records.freeze.active(now)),
    presence: (now) => records.presence.running(now),
  };
}

const clean = <T>(value: T): T => redact(value) as T;
