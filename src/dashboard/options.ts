/** What the dashboard is given by whoever starts it. */
import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import type { Policy } from '../policy/policy.ts';
import type { Queues } from '../queue/queues.ts';
import type { Records } from '../records/records.ts';

/** How this process is, for `/readyz` and for the top of every page. */
export interface Health {
  redis: 'up' | 'down';
  /** The roles this process has. */
  roles: readonly string[];
  /** Those of them that are not at work yet, or any more. */
  waiting: readonly string[];
  /** Policy files with mistakes: what they held before stays in force. */
  brokenFiles: readonly string[];
}

/** What is left of an account's requests in the present window. */
export interface BudgetView {
  account: string;
  limit: number;
  remaining: number;
}

/** What `/metrics` shows besides what records, queues and events tell. */
export interface MetricsSource {
  budgets(): Promise<readonly BudgetView[]>;
  /** Answers of the service that deviated from its contract, since the process started. */
  drift(): number;
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
  /** The policies in force; asked at every look. */
  policies: () => readonly Policy[];
  /** Answers within a second or two, whatever Redis does. */
  health: () => Promise<Health>;
  metrics?: MetricsSource;
  clock: Clock;
  log: Log;
}
