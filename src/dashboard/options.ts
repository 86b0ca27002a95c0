/** What the dashboard is given by whoever starts it. */

import type { RequestClass } from '../budget/request-class.ts';
import type { Clock } from '../clock.ts';
import type { Engine } from '../engine/engine.ts';
import type { Log } from '../log.ts';
import type { Policy } from '../policy/policy.ts';
import type { Queues } from '../queue/queues.ts';
import type { Records } from '../records/records.ts';
import type { Reasons } from '../run/reasons.ts';

/** A policy file with mistakes: what it held before stays active. */
export interface BrokenFile {
  file: string;
  mistakes: { place: string; message: string; suggestion?: string; frame: string }[];
  /** Since when it cannot be read. */
  since: number;
  /** The policies of this file that are active, some of them as they were read before. */
  inForce: string[];
  /** Those that were read before, and when. */
  kept: { name: string; readAt: number }[];
}

/** How this process is, for `/readyz` and for the top of every page. */
export interface Health {
  redis: 'up' | 'down';
  /** The roles this process has. */
  roles: readonly string[];
  /** Those of them that are not at work. */
  waiting: readonly string[];
  brokenFiles: readonly BrokenFile[];
  /** Policies that daemons on this Redis have read differently, a sentence each. */
  differences: readonly string[];
  /**
   * What is wrong with a Redis that answers: a sentence without its end, and whether work stands still for
   * it.
   */
  troubles: readonly { stops: boolean; says: string; refuses?: true }[];
}

/** An account's budget, as every process shares it. */
export interface AccountView {
  account: string;
  /** Requests that the present window has, and those that are left of it, the reserve included. */
  limit: number;
  left: number;
  /** Since when the service has given nobody a usable answer; nothing while it does. */
  failingSince?: number;
  /** Requests let go so far, by who waited for them. */
  requests: Record<RequestClass, number>;
}

export interface DashboardOptions {
  /** Without a password only a loopback address is accepted. */
  host: string;
  /** 0 takes any free one. */
  port: number;
  /** What people and programs sign in with. Missing or empty: by one-time links, and programs not at all. */
  password?: string;
  records: Records;
  queues: Queues;
  /** What carries out the things that people ask for here. */
  engine: Pick<Engine, 'fire' | 'cancel' | 'forceEnd' | 'release' | 'retry'>;
  /** Why a target may have ended, for the words that people read. */
  reasons: Reasons;
  /** The policies active; asked at every look. */
  policies: () => readonly Policy[];
  /** Answers within a second or two, whatever Redis does. */
  health: () => Promise<Health>;
  /** The accounts of the settings. */
  accounts: () => Promise<readonly AccountView[]>;
  /** Throws, with a sentence, when an account is not set up here: nothing can be fired for it. */
  needAccount: (name: string) => void;
  /** Answers of the service that deviated from its contract, since the process started. */
  drift: () => number;
  clock: Clock;
  log: Log;
}
