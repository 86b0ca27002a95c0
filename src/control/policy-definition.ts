/** A policy with its last and next runs: the object of `policies show --json` and of the HTTP API. */
import { isoTime } from '../clock.ts';
import type { Registry } from '../job/registry.ts';
import { asWritten } from '../policy/as-written.ts';
import type { Policy } from '../policy/policy.ts';
import { concerns } from '../records/freeze-scope.ts';
import type { Freeze } from '../records/freeze-store.ts';
import { type PolicyState, pauseAt } from '../records/policy-store.ts';
import type { KeptPolicy } from '../records/presence-store.ts';
import type { Records } from '../records/records.ts';
import type { Run } from '../run/run.ts';
import { firingsAhead, keptReport, pauseReport } from '../schedule/policy-report.ts';
import { freezeAnswer } from './answers.ts';

const NEXT_SHOWN = 3;
const RUNS_SHOWN = 5;

/** What is known of a policy in addition to its file; nothing is stored while there are no records. */
interface StoredPolicy {
  now: number;
  state?: PolicyState;
  /** Those that hold for the policy, or for some of its targets. */
  freezes?: readonly Freeze[];
  /** The newest ones. */
  runs?: readonly Run[];
  /** Set while its file has errors. */
  kept?: KeptPolicy | undefined;
}

/** Reads what is stored of a policy. */
export async function readStoredPolicy(
  records: Pick<Records, 'runs' | 'policies' | 'freeze'>,
  policy: Policy,
  now: number,
): Promise<StoredPolicy> {
  const [runs, state, freezes] = await Promise.all([
    records.runs.list({ policy: policy.name, limit: RUNS_SHOWN }),
    records.policies.state(policy),
    records.freeze.active(now),
  ]);
  return { now, state, runs, freezes: freezes.filter(({ scope }) => !scope || concerns(scope, policy)) };
}

/** `policies`: all of them, of which some may follow this one. */
export function toPolicyDefinition(
  policy: Policy,
  { now, state, freezes = [], runs = [], kept }: StoredPolicy,
  { registry, policies }: { registry: Registry; policies: readonly Policy[] },
) {
  const pause = state && pauseAt(state, now);
  return {
    policy: asWritten(policy, registry),
    file: policy.file,
    next: firingsAhead(policy, state, now, NEXT_SHOWN).map(({ at }) => isoTime(at)),
    followed_by: policies
      .filter(({ schedule }) => schedule?.after?.policy === policy.name)
      .map(({ name }) => name),
    paused: pause ? pauseReport(pause) : null,
    last_runs: runs.map((run) => ({ run: run.id, status: run.status, created_at: isoTime(run.createdAt) })),
    kept: kept ? keptReport(kept) : null,
    freezes: freezes.map(freezeAnswer),
  };
}
export type PolicyDefinition = ReturnType<typeof toPolicyDefinition>;
