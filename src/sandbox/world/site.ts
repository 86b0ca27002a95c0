/** A site of the fleet. */

import type { Site } from '../model/site.ts';
import { idOf } from './ids.ts';

/** A plain healthy site, connected and never synced; `facts` overrides its fields. */
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
