/** `config/caretaker.yaml` and the environment, read once into one frozen value. */
import type { RedisSettings } from '../redis/connect.ts';
import type { Days } from '../yaml/days.ts';
import type { Receiver } from './channels.ts';

export interface Account {
  name: string;
  /** Ends with the version segment (`/api/v6`), without a slash behind it. */
  baseUrl: string;
  token: string;
  budget: {
    requestsPerMinute: number;
    /** The share of the limit, 0 to 1, that is left for people using the same account. */
    reserve: number;
    /** Whether requests wait while Redis is away, or this process goes on with its part. */
    whenRedisIsDown: 'stop' | 'share';
  };
}

/** An account as far as the file and the environment tell: many commands need none that is complete. */
export interface KnownAccount extends Omit<Account, 'baseUrl' | 'token'> {
  baseUrl?: string;
  token?: string;
  /** The environment variables that would fill in what is missing. */
  unset: { baseUrl?: string; token?: string };
}

export type Notification = { name: string } & Receiver;

export interface Settings {
  /** Where they were read from. */
  file?: string;
  /** Use `accountOf` to get one that is complete. */
  accounts: Record<string, KnownAccount>;
  redis: RedisSettings;
  /** Absolute paths. */
  policiesDir: string;
  dataDir: string;
  daemon: {
    /** Entries one process works on at the same time. */
    concurrency: number;
  };
  dashboard: { host: string; port: number; password?: string };
  notifications: Record<string, Notification>;
  /** Days by the name that policies use in `schedule.blackout`. */
  calendars: Record<string, readonly Days[]>;
  retention: { runsMs: number };
}

/** Freezes a plain value with everything in it, so that no reader can change it for the others. */
export function deepFreeze<T>(value: T): T {
  if (value !== null && typeof value === 'object' && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const inner of Object.values(value)) deepFreeze(inner);
  }
  return value;
}

/** Whether an address, such as `dashboard.host`, is reachable from this machine only. */
export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
