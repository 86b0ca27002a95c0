/** A site of the fleet: what is known of it, and how its syncs go. */
import type { Snapshot } from './snapshots.ts';
import { idOf } from './world.ts';

/** How many items and bytes a backup of the site has, and how many items its owner left out. */
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
  /** Until when a change of its configuration is being carried out. */
  configuringUntil: number;
  readonly uptime: { enabled: boolean; status: string | null };
  readonly core: { current: string; latest: string; locked: boolean; vulnerable: boolean };
  readonly sync: SiteSync;
  /** The snapshots that the site brought along from before the sandbox started: how many, and the newest. */
  readonly past: { count: number; last: Snapshot | null };
  /** The moments of succeeded daily syncs since then, as long as nobody has asked for snapshots; see `snapshotsOf`. */
  unseen: number[];
  /** All snapshots, oldest first, once somebody has asked for them. */
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
  /** The snapshot of the sync that is running. */
  current: Snapshot | null;
  /** How long a sync of this site takes, in milliseconds of the service's time. */
  takesMs: number;
  /** What every sync of this site ends with; null = success. */
  failsWith: string | null;
  /** What the next sync alone ends with. */
  nextFailsWith: string | null;
  /** Until when the site is under maintenance; null = it is not. */
  maintenanceUntil: number | null;
  /** On-demand syncs started on `usedOn` (a UTC day). */
  used: number;
  usedOn: string;
}

/** A plain healthy site, connected and never synced; `facts` says what is special about it. */
export const newSite = (
  number: number,
  facts: Pick<Site, 'url' | 'title' | 'createdAt'> & Partial<Site>,
): Site => ({
  id: idOf('site', number),
  number,
  updatedAt: facts.createdAt,
  clientId: null,
  tagIds: [],
  connected: true,
  stickyIp: null,
  httpAuth: null,
  locked: false,
  multisite: false,
  server: { hosting: null, mysql_version: null, php_version: null },
  scanner: { enabled: true, status: null, malwareDetectedAt: null, checkedAt: null },
  backups: {
    supported: true,
    enabled: true,
    realTime: false,
    retentionDays: 90,
    available: 0,
    latest: null,
  },
  files: { items: 1_200, bytes: 60_000_000, ignored: 0 },
  database: { items: 12, bytes: 4_000_000, ignored: 0 },
  performance: { enabled: false, score: 80 },
  analyticsEnabled: false,
  activityLogsEnabled: false,
  activityBefore: false,
  configuringUntil: 0,
  uptime: { enabled: false, status: null },
  core: { current: LATEST_CORE, latest: LATEST_CORE, locked: false, vulnerable: false },
  sync: {
    paused: false,
    dailyTime: '03:00Z',
    lastAt: null,
    lastStatus: null,
    lastError: null,
    nextAt: null,
    current: null,
    takesMs: 30_000,
    failsWith: null,
    nextFailsWith: null,
    maintenanceUntil: null,
    used: 0,
    usedOn: '',
  },
  past: { count: 0, last: null },
  unseen: [],
  snapshots: undefined,
  ...facts,
});

export const LATEST_CORE = '6.8.3';
