/** The dependencies of the engine; `app` builds them. */
import type { Budget } from '../budget/budget.ts';
import type { Client } from '../client/client.ts';
import type { Clock } from '../clock.ts';
import type { OperationId } from '../contract/operations.ts';
import { withIds } from '../contract/references.ts';
import type { Registry } from '../job/registry.ts';
import type { Log } from '../log.ts';
import { Policy } from '../policy/policy.ts';
import type { Queues } from '../queue/queues.ts';
import { keys } from '../records/keys.ts';
import type { Notice } from '../records/notice-store.ts';
import { parseRecord } from '../records/parse-record.ts';
import type { Pause } from '../records/policy-store.ts';
import type { Records } from '../records/records.ts';
import type { Run, Spent } from '../run/run.ts';
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
  looks: Pick<Records['looks'], 'last'>;
  findings: Pick<Records['findings'], 'pages'>;
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
  /** Records the freezes that recur by the settings of this process. Called before a run is created. */
  noteMaintenance?: () => Promise<void>;
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

// The notices of the engine: they are written with the change that they are about (`records/notice-store.ts`).

/** The notice, unless the policy notifies no one of anything. */
export const noticeFor = ({ notify }: Pick<Policy, 'notify'>, notice: Notice): Notice | undefined =>
  notify.length > 0 ? notice : undefined;

// Requests that were sent and are not yet counted for a run, by operation.

export class Spending {
  private spent: Record<string, number> = {};

  /** Pass this as `onRequest` of a call. */
  readonly count = (operation: OperationId): void => {
    this.spent[operation] = (this.spent[operation] ?? 0) + 1;
  };

  /** Returns the requests since the last call of `take`, and starts again from zero. */
  take(): Spent {
    const { spent } = this;
    this.spent = {};
    return spent;
  }
}

/** How many runs are kept. With more runs at a time, some are read again. */
const MAX_RUNS = 1_000;

/**
 * What never changes of a run, read once for all of its targets. Starts again when Redis was emptied or restored:
 * a run that is created after that may have the id of another one, with another version of its policy.
 */
export class RunCache<Kept> {
  private readonly runs = new Map<string, Kept>();
  private epoch = '';

  constructor(
    private readonly records: Pick<Records, 'runs' | 'generation'>,
    private readonly keep: (run: Run) => Kept,
  ) {}

  /** Undefined when there is no such run. */
  async get(id: string): Promise<Kept | undefined> {
    const { epoch } = this.records.generation;
    if (epoch !== this.epoch) this.runs.clear();
    this.epoch = epoch;
    const known = this.runs.get(id);
    if (known !== undefined) return known;
    const run = await this.records.runs.get(id);
    if (!run) return undefined;
    const [oldest] = this.runs.keys();
    if (oldest !== undefined && this.runs.size >= MAX_RUNS) this.runs.delete(oldest);
    const kept = this.keep(run);
    this.runs.set(id, kept);
    return kept;
  }
}
