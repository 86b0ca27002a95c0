import type { Person } from './account.ts';

/** The items and bytes in a backup of the site, and the items that its owner excluded. */
export interface Extent {
  items: number;
  bytes: number;
  ignored: number;
}

export interface Site {
  readonly id: string;
  readonly number: number;
  title: string;
  url: string;
  readonly createdAt: number;
  updatedAt: number;
  clientId: string | null;
  tagIds: string[];
  connected: boolean;
  stickyIp: string | null;
  httpAuth: { username: string; password: string } | null;
  locked: boolean;
  readonly multisite: boolean;
  server: { hosting: string | null; mysql_version: string | null; php_version: string | null };
  readonly scanner: {
    enabled: boolean;
    status: 'clean' | 'hacked' | null;
    malwareDetectedAt: number | null;
    checkedAt: number | null;
  };
  readonly backups: {
    /** Whether the site's plan has backups at all. */
    supported: boolean;
    enabled: boolean;
    realTime: boolean;
    retentionDays: number;
    /** Succeeded snapshots that can be used. */
    available: number;
    /** The newest snapshot whose sync has ended. */
    latest: Snapshot | null;
  };
  readonly files: Extent;
  readonly database: Extent;
  readonly performance: { enabled: boolean; score: number };
  readonly analyticsEnabled: boolean;
  activityLogsEnabled: boolean;
  /** Whether its log has entries from before the sandbox started; see `activityOf`. */
  activityBefore: boolean;
  /** Until when a change of its configuration is in progress. */
  configuringUntil: number;
  readonly uptime: { enabled: boolean; status: string | null };
  readonly core: { current: string; latest: string; locked: boolean; vulnerable: boolean };
  readonly sync: SiteSync;
  /** The site's snapshots from before the sandbox started: their number, and the newest one. */
  readonly past: { count: number; last: Snapshot | null };
  /**
   * The times of successful daily syncs since the start, until snapshots are first requested; see
   * `snapshotsOf`.
   */
  unseen: number[];
  /** All snapshots, oldest first, once they were requested. */
  snapshots: Snapshot[] | undefined;
}

export interface SiteSync {
  paused: boolean;
  /** `02:30Z`. */
  dailyTime: string;
  lastAt: number | null;
  lastStatus: 'succeeded' | 'failed' | null;
  lastError: string | null;
  nextAt: number | null;
  /** The snapshot of the running sync. */
  current: Snapshot | null;
  /** How long a sync of this site takes, in milliseconds of the service's time. */
  takesMs: number;
  /** The error with which every sync of this site fails; null = success. */
  failsWith: string | null;
  /** The error with which only the next sync fails. */
  nextFailsWith: string | null;
  /** Until when the site is under maintenance; null = it is not. */
  maintenanceUntil: number | null;
  /** On-demand syncs started on `usedOn` (a UTC day). */
  used: number;
  usedOn: string;
}

export interface Snapshot {
  readonly id: string;
  readonly number: number;
  readonly createdAt: number;
  status: 'in_progress' | 'succeeded' | 'failed' | 'cancelled';
  note: string | null;
  error: string | null;
  /** The result of the scan; null while the sync runs, when it failed, and when scanning is off. */
  scanner: 'clean' | 'hacked' | null;
  filesSynced: number;
  tablesSynced: number;
}

/** One product of a site, with its current and its available version. */
export type Update = {
  name: string;
  slug: string;
  filename: string;
  current_version: string;
  target_version: string;
};

export interface StagingSite {
  readonly id: string;
  readonly number: number;
  readonly siteId: string;
  status: 'initializing' | 'active' | 'paused' | 'suspended';
  readonly url: string;
  phpVersion: string;
  readonly user: Person;
  readonly snapshot: { readonly id: string; readonly createdAt: number };
  readonly createdAt: number;
  updatedAt: number;
  expiresAt: number;
  /** The time of its last use. */
  usedAt: number;
}

/** The data from which a copy is made. */
export interface StagingPlan {
  siteId: string;
  siteUrl: string;
  phpVersion: string;
  user: Person;
  snapshot: { id: string; createdAt: number };
}
