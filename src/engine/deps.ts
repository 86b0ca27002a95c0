/** The dependencies of the engine; `app` builds them. */
import type { Budget } from '../budget/budget.ts';
import type { Client } from '../client/client.ts';
import type { Clock } from '../clock.ts';
import { withIds } from '../contract/references.ts';
import type { Registry } from '../job/registry.ts';
import type { Log } from '../log.ts';
import { Policy } from '../policy/policy.ts';
import type { Queues } from '../queue/queues.ts';
import { keys } from '../records/keys.ts';
import { parseRecord } from '../records/parse-record.ts';
import type { Pause } from '../records/policy-store.ts';
import type { Records } from '../records/records.ts';
import type { Run } from '../run/run.ts';
import type { Traces } from '../trace/traces.ts';

/** The client and budget of an account. */
export interface AccountLink {
  client: Client;
  budget: Budget;
}

/** What planning asks of our records: the results of earlier runs, and which runs are active. */
export interface PlanRecords {
  runs: Pick<Records['runs'], 'list' | 'get' | 'only' | 'active' | 'ofVersion'>;
  targets: Pick<Records['targets'], 'all'>;
  once: Pick<Records['once'], 'results'>;
  announcements: Pick<Records['announcements'], 'all'>;
  freeze: Pick<Records['freeze'], 'over' | 'ofTargets'>;
}

/** What a job may read to find out its first requests. */
export type Reading = Pick<Client, 'call' | 'serviceTime' | 'download'>;

/** What a plan is made with; `EngineDeps` has all of it. */
export interface PlanDeps {
  records: PlanRecords;
  registry: Pick<Registry, 'get'>;
  clock: Pick<Clock, 'now'>;
  link(account: string): { client: Client; budget: Pick<Budget, 'usage'> };
  /** See `Planning`. */
  listsAll?: boolean;
  /** What jobs may read to find out their first requests; nothing when it is left out. */
  reading?: Reading;
}

export interface EngineDeps {
  records: Records;
  queues: Queues;
  registry: Registry;
  clock: Clock;
  log: Log;
  /**
   * The link to an account, opened on first use. Throws when this process has no configuration for the
   * account.
   */
  link(account: string): AccountLink;
  /**
   * The address of the service with which this process is configured for the account; undefined when it has no
   * configuration for the account, and cannot work on its runs.
   */
  addressOf(account: string): string | undefined;
  /** The name under which this process holds leases and reports its presence; unique per process. */
  owner: string;
  /** Makes traces of the requests of runs; missing where traces are off. */
  traces?: Pick<Traces, 'requestsOf'> | undefined;
  /** Called once for every policy that was paused because its runs failed; `run` is the last failed run. */
  onPolicyPaused?: (run: Run, policy: Policy, pause: Pause) => void;
}

/**
 * Whether this process can work on an account, and on a run of it: it has a configuration for the account, with the
 * address that the run belongs to.
 */
export function serves(
  { addressOf }: Pick<EngineDeps, 'addressOf'>,
  { account, address }: Pick<Run, 'account' | 'address'>,
): boolean {
  const configured = addressOf(account);
  return configured !== undefined && (address === undefined || address === configured);
}

/**
 * The policy that a run was started with, with ids in place of the names that its plan has looked up. Later edits
 * of the policy do not change it.
 */
export const policyOf = ({ id, policyJson, names = [] }: Run): Policy =>
  withIds(parseRecord(Policy, policyJson, keys.run(id)), names);
