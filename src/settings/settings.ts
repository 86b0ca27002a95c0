/** The settings: `config/caretaker.yaml` and the environment, read once into a frozen value. */
import type { Access } from '../access/access.ts';
import type { RedisSettings } from '../redis/connect.ts';
import { matchesPattern } from '../text.ts';
import type { Days } from '../yaml/days.ts';
import { type Diagnostic, inOrder } from '../yaml/diagnostic.ts';
import type { Maintenance } from './maintenance.ts';
import type { Receiver } from './receiver.ts';

export interface Account {
  name: string;
  /** Ends with the version segment (`/api/v6`), without a trailing slash. */
  baseUrl: string;
  token: string;
  budget: {
    requestsPerMinute: number;
    /** The fraction of the limit, 0 to 1, that is reserved for other clients of the same account. */
    reserve: number;
    /**
     * While Redis is unavailable: requests wait, or this process continues with an equal part of the budget.
     */
    whenRedisIsDown: 'stop' | 'share';
  };
}

/** An account that may be incomplete, because many commands need no account. */
export interface KnownAccount extends Omit<Account, 'baseUrl' | 'token'> {
  baseUrl?: string;
  token?: string;
  /** The environment variables that would set the missing values. */
  unset: { baseUrl?: string; token?: string };
}

export type Notification = { name: string } & Receiver;

export interface Settings {
  /** The file that they were read from. */
  file?: string;
  /** May be incomplete. `accountOf` returns a complete one. */
  accounts: Record<string, KnownAccount>;
  redis: RedisSettings;
  /** Absolute paths. */
  policiesDir: string;
  dataDir: string;
  daemon: {
    /** Number of targets that one process works on at the same time. */
    concurrency: number;
  };
  dashboard: {
    host: string;
    port: number;
    password?: string;
    /** The address at which people open it, without a slash at the end. */
    publicUrl?: string;
  };
  /** Who may sign in to the dashboard. */
  access: Access;
  notifications: Record<string, Notification>;
  /** Days by the name that policies use in `schedule.blackout`. */
  calendars: Record<string, readonly Days[]>;
  /** Recurring freezes. */
  maintenance: readonly Maintenance[];
  retention: { runsMs: number };
  audit: {
    /** How long lines are kept. */
    keptMs: number;
    /** An absolute path. */
    file?: string;
  };
  /** What is valid in the file but unsafe. */
  warnings: readonly Diagnostic[];
  /** The policies that limits of roles name, with the place of each: they are checked where policies are known. */
  policyMentions: readonly (Diagnostic & { policy: string })[];
}

/** Freezes a plain value and everything in it, so that no reader can change it for the others. */
export function deepFreeze<T>(value: T): T {
  if (value !== null && typeof value === 'object' && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const inner of Object.values(value)) deepFreeze(inner);
  }
  return value;
}

/** Whether an address, such as `dashboard.host`, can be reached only from this machine. */
export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);

/** The address as a person types it. One that stands for all addresses of the machine becomes `localhost`. */
export function dashboardUrl(host: string, port: number): string {
  const name = ['0.0.0.0', '::'].includes(host) ? 'localhost' : host;
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`;
}

/** Whether people sign in with a link, because there is no other way. */
export const signsInWithLink = (password: string | undefined, { users, oidc }: Access): boolean =>
  !password && users.length === 0 && oidc === undefined;

/** What is unsafe in the configuration, and the limits of roles that name none of these policies. */
export const warningsOf = (
  { warnings, policyMentions }: Pick<Settings, 'warnings' | 'policyMentions'>,
  policies: readonly string[],
): Diagnostic[] =>
  inOrder([
    ...warnings,
    ...policyMentions.filter(({ policy }) => !policies.some((name) => matchesPattern(name, policy))),
  ]);
