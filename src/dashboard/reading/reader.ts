/**
 * All that pages and JSON know of the records, and the one gate on the way: what comes out has passed the redaction
 * list, so no handler has to think of it.
 */

import type { Blocked } from '../../records/account-store.ts';
import type { PolicyState } from '../../records/policy-store.ts';
import type { Presence } from '../../records/presence-store.ts';
import type { Records } from '../../records/records.ts';
import type { RunQuery } from '../../records/run-store.ts';
import type { LeftOut } from '../../records/target-store.ts';
import type { Outcome, Run, Target } from '../../run/run.ts';
import { redact } from '../../secrets.ts';

export interface TargetQuery {
  /** Only those with this outcome; `open` are those that have none yet. */
  outcome?: Outcome | 'open';
  offset: number;
  limit: number;
}

export interface Reader {
  run(id: string): Promise<Run | undefined>;
  /** Newest first. */
  runs(query: RunQuery): Promise<Run[]>;
  /** The runs that have not ended, of all accounts, oldest first. */
  activeRuns(): Promise<Run[]>;
  /** In the order of the plan. Reads the plan up to the end of the page. */
  targets(run: string, query: TargetQuery): Promise<Target[]>;
  allTargets(run: string): AsyncGenerator<Target>;
  leftOut(run: string, limit: number): Promise<LeftOut[]>;
  policyStates(names: readonly string[]): Promise<Map<string, PolicyState>>;
  /** The accounts among these that refuse us. */
  blocked(accounts: readonly string[]): Promise<Map<string, Blocked>>;
  /** The processes at work. */
  presence(now: number): Promise<Presence[]>;
}

export function openReader(records: Records): Reader {
  async function* allTargets(run: string): AsyncGenerator<Target> {
    for await (const target of records.targets.all(run)) yield clean(target);
  }
  return {
    run: async (id) => clean(await records.runs.get(id)),
    runs: async (query) => clean(await records.runs.list(query)),
    async activeRuns() {
      const accounts = await records.runs.activeAccounts();
      const runs = await Promise.all(accounts.map((account) => records.runs.active(account)));
      return clean(runs.flat().sort((a, b) => a.createdAt - b.createdAt));
    },
    async targets(run, { outcome, offset, limit }) {
      const page: Target[] = [];
      let passed = 0;
      for await (const target of records.targets.all(run)) {
        if (outcome !== undefined && (target.outcome ?? 'open') !== outcome) continue;
        passed += 1;
        if (passed > offset) page.push(target);
        if (page.length === limit) break;
      }
      return clean(page);
    },
    allTargets,
    leftOut: async (run, limit) => clean(await records.targets.leftOut(run, 0, limit)),
    policyStates: async (names) => {
      const states = names.length === 0 ? new Map<string, PolicyState>() : await records.policies.many(names);
      return new Map([...states].map(([name, state]) => [name, clean(state)]));
    },
    async blocked(accounts) {
      const found = await Promise.all(accounts.map((account) => records.accounts.blocked(account)));
      return new Map(
        accounts.flatMap((account, index) => {
          const blocked = found[index];
          return blocked ? [[account, clean(blocked)] as const] : [];
        }),
      );
    },
    presence: (now) => records.presence.here(now),
  };
}

const clean = <T>(value: T): T => redact(value) as T;
