/** What the dashboard receives from the process that starts it. */

import type { RequestClass } from '../budget/request-class.ts';
import type { Clock } from '../clock.ts';
import type { Engine } from '../engine/engine.ts';
import type { Log } from '../log.ts';
import type { Policy } from '../policy/policy.ts';
import type { Queues } from '../queue/queues.ts';
import type { Records } from '../records/records.ts';
import type { Reasons } from '../run/reasons.ts';

/** A policy file with errors: its previous policies stay active. */
export interface BrokenFile {
  file: string;
  errors: { place: string; message: string; suggestion?: string; frame: string }[];
  /** Since when it cannot be read. */
  since: number;
  /** The policies of this file that are active, some of them as they were read before. */
  active: string[];
  /** Those that are active as they were read earlier, and when that was. */
  kept: { name: string; readAt: number }[];
}

/** The health of this process, for `/readyz` and the notices of every page. */
export interface Health {
  redis: 'up' | 'down';
  /** The roles this process has. */
  roles: readonly string[];
  /** Those of them that are not running. */
  waiting: readonly string[];
  brokenFiles: readonly BrokenFile[];
  /** Differences between the policies of the daemons on this Redis, a sentence each. */
  differences: readonly string[];
  /**
   * Problems of a Redis that answers: a sentence without its full stop, whether the problem stops all work, and
   * whether Redis refuses to write.
   */
  troubles: readonly { stops: boolean; message: string; refuses?: true }[];
}

/** An account's budget, shared by all processes. */
export interface AccountView {
  account: string;
  /** Requests of the current window, and those that are left of it, the reserve included. */
  limit: number;
  left: number;
  /** Since when the service has given no usable answer; missing while it gives answers. */
  failingSince?: number;
  /** Requests granted so far, by class. */
  requests: Record<RequestClass, number>;
}

export interface DashboardOptions {
  /** Without a password only a loopback address is accepted. */
  host: string;
  /** 0 stands for any free port. */
  port: number;
  /** For people and programs. Missing or empty: people sign in with one-time links, programs cannot. */
  password?: string;
  records: Records;
  queues: Queues;
  /** Carries out the changes that people request. */
  engine: Pick<Engine, 'fire' | 'cancel' | 'forceEnd' | 'release' | 'retry'>;
  /** The reasons of outcomes, with their sentences. */
  reasons: Reasons;
  /** The active policies; called for each page. */
  policies: () => readonly Policy[];
  /** Answers within two seconds, even while Redis does not. */
  health: () => Promise<Health>;
  /** The accounts of the settings. */
  accounts: () => Promise<readonly AccountView[]>;
  /** Throws when the settings lack the account: then its policies cannot be fired here. */
  needAccount: (name: string) => void;
  /** How many answers of the service deviated from its contract since the process started. */
  drift: () => number;
  clock: Clock;
  log: Log;
}
