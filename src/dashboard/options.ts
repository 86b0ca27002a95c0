/** What the dashboard receives from the process that starts it. */

import type { Access } from '../access/access.ts';
import type { Principal } from '../access/principal.ts';
import type { Budget } from '../budget/budget.ts';
import type { RequestClass } from '../budget/ticket.ts';
import type { Clock } from '../clock.ts';
import type { Audit } from '../control/audit.ts';
import type { FreezeDeps } from '../control/freeze-names.ts';
import type { Engine } from '../engine/engine.ts';
import type { Registry } from '../job/registry.ts';
import type { Log } from '../log.ts';
import type { ReceiverView } from '../notify/receiver-view.ts';
import type { TestResult } from '../notify/send-test.ts';
import type { Policy } from '../policy/policy.ts';
import type { Queues } from '../queue/queues.ts';
import type { Vitals } from '../records/presence-store.ts';
import type { Records } from '../records/records.ts';
import type { RedisFacts } from '../redis/facts.ts';
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
  /** Accounts whose records belong to another service than the one in the configuration, with a sentence. */
  moved: readonly { account: string; sentence: string }[];
  /**
   * Problems of a Redis that answers: a sentence without its full stop, whether the problem stops all work, and
   * whether Redis refuses to write.
   */
  troubles: readonly { stops: boolean; message: string; refuses?: true; queue?: string }[];
  /** What each server of Redis reported at the last check, a few seconds ago. */
  servers: readonly RedisFacts[];
}

/** An account's budget, shared by all processes. */
export interface AccountView {
  account: string;
  /** Requests of the current window, and those that are left of it, the reserve included. */
  limit: number;
  left: number;
  /** How many requests of a window Caretaker never spends: they are left for other clients. */
  reserved: number;
  /** Since when the service has given no usable answer; missing while it gives answers. */
  failingSince?: number;
  /** Requests granted so far, by class. */
  requests: Record<RequestClass, number>;
}

/** What pages show of the budget of an account. */
export type BudgetView = Pick<Budget, 'usage' | 'history'>;

/** An attempt to sign in, or a request of a program with wrong credentials. */
export interface SignIn {
  /** The name that was given; missing for a wrong token, link or password of the dashboard. */
  name?: string;
  /** Who signed in. */
  principal?: Principal;
  /** The address of the caller. */
  address: string;
  ok: boolean;
  /** Why it failed; never with what was sent. */
  why?: string;
}

export interface DashboardOptions {
  /** Without a password only a loopback address is accepted. */
  host: string;
  /** 0 stands for any free port. */
  port: number;
  /**
   * For people and programs; anyone who has it may do everything. Missing or empty, and without users: people sign
   * in with one-time links.
   */
  password?: string;
  /** Who may sign in, by the current settings; called for each request. */
  access: () => Access;
  /** The address at which people open it, without a slash at the end. Default: that of each request. */
  publicUrl?: string;
  records: Records;
  queues: Queues;
  audit: Audit;
  /** Carries out the changes that people request. */
  engine: Pick<
    Engine,
    | 'apply'
    | 'fire'
    | 'cancel'
    | 'forceEnd'
    | 'nudge'
    | 'planToSave'
    | 'preview'
    | 'release'
    | 'retry'
    | 'approve'
    | 'reject'
    | 'skipPause'
    | 'resume'
  >;
  /** The version of Caretaker. */
  version: string;
  /** The jobs. */
  registry: Registry;
  /** The reasons of outcomes, with their sentences. */
  reasons: Reasons;
  /** The active policies; called for each page. */
  policies: () => readonly Policy[];
  /** Answers within two seconds, even while Redis does not. */
  health: () => Promise<Health>;
  /** How this process is. */
  vitals: () => Vitals;
  /** For how long Redis has not answered this process. */
  redisSilentMs: () => number;
  /** The receivers of notifications in the present settings. */
  receivers: () => readonly ReceiverView[];
  /** Sends a test message to one of them, once, with this id. */
  sendTest: (receiver: string, id: string) => Promise<TestResult>;
  /** The accounts of the settings. */
  accounts: () => Promise<readonly AccountView[]>;
  /** The budget of an account of the settings; undefined for others. */
  budgetOf: (account: string) => BudgetView | undefined;
  /** Throws when the settings lack the account: then its policies cannot be fired here. */
  needAccount: (name: string) => { baseUrl: string };
  /** What knows the names that a freeze can have, and records its times. */
  names: Omit<FreezeDeps, 'registry'>;
  /** How many answers of the service deviated from its contract since the process started. */
  drift: () => number;
  /** Called for each attempt to sign in, for the audit log. */
  onSignIn?: (attempt: SignIn) => void;
  clock: Clock;
  log: Log;
}
