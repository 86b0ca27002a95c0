/** What the engine works with; `app` puts it together. */
import type { Budget } from '../budget/budget.ts';
import type { Client } from '../client/client.ts';
import type { Clock } from '../clock.ts';
import type { Registry } from '../job/registry.ts';
import type { Log } from '../log.ts';
import { Policy } from '../policy/policy.ts';
import type { Queues } from '../queue/queues.ts';
import { keys } from '../records/keys.ts';
import { parseRecord } from '../records/parse-record.ts';
import type { Pause } from '../records/policy-store.ts';
import type { Records } from '../records/records.ts';
import type { Run } from '../run/run.ts';

/** An account as the engine reaches it. */
export interface AccountLink {
  client: Client;
  budget: Budget;
}

export interface EngineDeps {
  records: Records;
  queues: Queues;
  registry: Registry;
  clock: Clock;
  log: Log;
  /** The link to an account, opened when first asked for. Throws when the account is not set up here. */
  link(account: string): AccountLink;
  /** Whether this process knows the account, so that it can serve its runs. */
  serves(account: string): boolean;
  /** Who holds leases and is present: unique for the process. */
  owner: string;
  /** Told once, by the process that ended it, about every run that came to its end or is blocked. */
  onRunEnded?: (run: Run, policy: Policy) => void;
  /** Told once about every policy that was paused because its runs failed; `run` is the last of them. */
  onPolicyPaused?: (run: Run, policy: Policy, pause: Pause) => void;
}

/** The policy a run was started with: edits since then do not change it. */
export const policyOf = ({ id, policyJson }: Run): Policy => parseRecord(Policy, policyJson, keys.run(id));
