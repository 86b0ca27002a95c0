/** What tests can do to a site without the API. It is not journaled, because no caller did it. */

import { isoDay } from '../dates.ts';
import type { Provider } from './model/account.ts';
import type { MailStatus } from './model/reporting.ts';
import type { Site } from './model/site.ts';
import type { BadVersion, ScheduleFields, UpdateSchedule } from './model/tasks.ts';
import type { World } from './model/world.ts';
import { worksOf } from './resources/custom-works.ts';
import { notesOf, rewriteNote } from './resources/notes.ts';
import { addStaging } from './resources/staging-sites.ts';
import {
  DAILY_SYNCS,
  endSync,
  isUnderMaintenance,
  planDailySync,
  startSync,
  syncsUsed,
} from './world/sites.ts';
import { snapshotsOf } from './world/snapshots.ts';
import { DAY } from './world/time.ts';
import { addSchedule, fallBack, startUpdateRun } from './world/updates.ts';

export interface SiteControl {
  /** Syncs are refused because of the daily limit, until the next UTC day. */
  useUpDailySyncs(): void;
  /** Syncs are refused because of maintenance until it is switched off. */
  underMaintenance(on: boolean): void;
  disconnect(): void;
  connect(): void;
  lock(on: boolean): void;
  pause(on: boolean): void;
  /** The running sync, or otherwise the next one, fails with this message. */
  failNextSync(message: string): void;
  /** Syncs that start from now on take this long, in milliseconds of the service's time. */
  syncTakes(ms: number): void;
  /**
   * The site's last sync ended this long ago, successfully or with this error; there is no snapshot of it.
   */
  lastSynced(agoMs: number, error?: string): void;
  /** Another client starts a sync; returns the snapshot's id. */
  startSync(): string;
  /** The running sync ends now. */
  finishSync(): void;
  /** Another client cancels the running sync in the service: its snapshot is cancelled. */
  cancelSync(): void;
  /** Changes its core; omitted fields stay. */
  coreIs(core: Partial<Site['core']>): void;
  /** Changes its address and title; omitted fields stay. */
  isCalled(names: Partial<Pick<Site, 'url' | 'title'>>): void;
  /** Sets its plugins and themes to versions of months ago, so that updates are available. */
  fallBehind(): void;
  state(): SiteState;
  /** The content of its notes, oldest first. */
  notes(): string[];
  /** A person changes its notes: the content of each, or null to remove it. */
  changeNotes(change: (content: string) => string | null): void;
  /** Its custom work entries, oldest first. */
  customWorks(): { title: string; description: string; performedOn: string }[];
  /** The reports on it, oldest first: their days and recipients. */
  reports(): { id: string; start: string; end: string; sentTo: string[] }[];
}

/** The state of a site, times as ISO 8601. */
export interface SiteState {
  connected: boolean;
  locked: boolean;
  paused: boolean;
  underMaintenance: boolean;
  syncInProgress: boolean;
  /** On-demand syncs started today. */
  syncsToday: number;
  lastSyncAt: string | null;
  lastSyncStatus: 'succeeded' | 'failed' | null;
  lastSyncError: string | null;
  /** `03:17Z`. */
  dailySyncTime: string;
  /** Oldest first. */
  snapshots: { id: string; status: string; createdAt: string }[];
}

/** The controls of one site; `now` settles the world and returns the service's time. */
export function controlSite(world: World, id: string, now: () => number): SiteControl {
  const find = (): Site => {
    const site = world.sites.get(id);
    if (!site) throw new Error(`The sandbox has no site "${id}".`);
    return site;
  };
  find();
  /** Brings the world up to date, then changes the site. */
  const change = <A extends unknown[], R>(act: (site: Site, at: number, ...given: A) => R) => {
    return (...given: A): R => {
      const at = now();
      return act(find(), at, ...given);
    };
  };
  return {
    useUpDailySyncs: change(({ sync }, at) => {
      Object.assign(sync, { used: DAILY_SYNCS, usedOn: isoDay(at) });
    }),
    underMaintenance: change(({ sync }, _at, on: boolean) => {
      sync.maintenanceUntil = on ? Number.POSITIVE_INFINITY : null;
    }),
    disconnect: change((site) => {
      site.connected = false;
    }),
    connect: change((site) => {
      site.connected = true;
    }),
    lock: change((site, _at, on: boolean) => {
      site.locked = on;
    }),
    pause: change((site, at, on: boolean) => {
      site.sync.paused = on;
      planDailySync(world, site, at);
    }),
    failNextSync: change(({ sync }, _at, message: string) => {
      sync.nextFailsWith = message;
    }),
    syncTakes: change(({ sync }, _at, ms: number) => {
      sync.takesMs = ms;
    }),
    lastSynced: change(({ sync }, at, agoMs: number, error: string | undefined) => {
      sync.lastAt = at - agoMs;
      sync.lastStatus = error === undefined ? 'succeeded' : 'failed';
      sync.lastError = error ?? null;
    }),
    startSync: change((site, at) => startSync(world, site, at, null).id),
    finishSync: change(({ sync }, at) => {
      if (sync.current) endSync(world, id, sync.current.id, at);
    }),
    cancelSync: change((site, at) => {
      const snapshot = site.sync.current;
      if (!snapshot) return;
      // Generates its snapshots first: a snapshot that is generated later from its time counts as succeeded.
      snapshotsOf(site);
      endSync(world, id, snapshot.id, at);
      snapshot.status = 'cancelled';
      if (site.backups.enabled) site.backups.available -= 1;
    }),
    coreIs: change((site, _at, core: Partial<Site['core']>) => {
      Object.assign(site.core, core);
    }),
    isCalled: change((site, _at, names: Partial<Pick<Site, 'url' | 'title'>>) => {
      Object.assign(site, names);
    }),
    fallBehind: change((site) => fallBack(world, site)),
    state: change(stateOf),
    notes: change((site) => [...notesOf(world, site).notes.values()].map(({ content }) => content)),
    changeNotes: change((site, at, by: (content: string) => string | null) => {
      const { notes } = notesOf(world, site);
      for (const note of [...notes.values()]) {
        const content = by(note.content);
        if (content === null) notes.delete(note.id);
        else if (content !== note.content) rewriteNote(note, content, world.caller, at);
      }
    }),
    customWorks: change((site) =>
      [...worksOf(world, site).works.values()].map(({ title, description, performedOn }) => ({
        title,
        description,
        performedOn,
      })),
    ),
    reports: change(() =>
      [...world.reporting.reports.values()]
        .filter(({ site }) => site.id === id)
        .map(({ id: report, startDate, endDate, sentTo }) => ({
          id: report,
          start: startDate,
          end: endDate,
          sentTo: sentTo.map(({ email }) => email),
        })),
    ),
  };
}

function stateOf(site: Site, now: number): SiteState {
  const { sync } = site;
  return {
    connected: site.connected,
    locked: site.locked,
    paused: sync.paused,
    underMaintenance: isUnderMaintenance(site, now),
    syncInProgress: sync.current !== null,
    syncsToday: syncsUsed(site, now),
    lastSyncAt: sync.lastAt === null ? null : new Date(sync.lastAt).toISOString(),
    lastSyncStatus: sync.lastStatus,
    lastSyncError: sync.lastError,
    dailySyncTime: sync.dailyTime,
    snapshots: snapshotsOf(site).map(({ id, status, createdAt }) => ({
      id,
      status,
      createdAt: new Date(createdAt).toISOString(),
    })),
  };
}

/** What tests can do to an auto update schedule without the API. */
export interface ScheduleControl {
  /**
   * Runs it now, outside its schedule, for the usual time or `takesMs`, in milliseconds of the service's
   * time. Returns the id of the run's task, or null when there was nothing to update.
   */
  runNow(takesMs?: number): string | null;
  /** Its next run was due this long ago, in milliseconds of the service's time, and does not happen. */
  overdueBy(ms: number): void;
  state(): ScheduleFields & { status: UpdateSchedule['status']; nextAt: string };
}

/** The controls of one auto update schedule; `now` settles the world and returns the service's time. */
export function controlSchedule(world: World, id: string, now: () => number): ScheduleControl {
  const find = (): UpdateSchedule => {
    const schedule = world.updates.schedules.get(id);
    if (!schedule) throw new Error(`The sandbox has no auto update schedule "${id}".`);
    return schedule;
  };
  find();
  return {
    runNow: (takesMs) => startUpdateRun(world, find(), now(), takesMs),
    overdueBy(ms) {
      // Its agenda entry for another time no longer counts.
      find().nextAt = now() - ms;
    },
    state() {
      now();
      const { id: _id, createdAt: _created, updatedAt: _updated, nextAt, ...shown } = find();
      return { ...shown, nextAt: new Date(nextAt).toISOString() };
    },
  };
}

/** What tests can do to all auto update schedules. */
export interface SchedulesControl {
  /**
   * Adds a daily schedule for all plugins of a site to the account. It does not run before 2099. Returns its
   * id.
   */
  make(siteId: string, status: UpdateSchedule['status']): string;
  /** The ids of all schedules, in order of creation. */
  ids(): string[];
  /** From now on, these versions disconnect the sites that take them; replaces those named before. */
  breakSites(bad: readonly BadVersion[]): void;
}

/** The controls of auto update schedules; `now` settles the world and returns the service's time. */
export const controlSchedules = (world: World, now: () => number): SchedulesControl => ({
  make(siteId, status) {
    const fields: ScheduleFields = {
      name: `Plugins of ${siteId}`,
      schedule: 'daily',
      startedAt: Date.UTC(2099, 0, 1),
      siteIds: [siteId],
      core: false,
      plugins: { selection: 'all', filenames: [] },
      themes: null,
      backup: false,
      visualRegression: false,
    };
    const schedule = addSchedule(world, fields, now());
    schedule.status = status;
    return schedule.id;
  },
  ids() {
    now();
    return [...world.updates.schedules.keys()];
  },
  breakSites(bad) {
    now();
    world.updates.bad = [...bad];
  },
});

/** What tests can do to the external storage. */
export interface StorageControl {
  /** While it is down, tests of destinations answer 503. */
  down(on: boolean): void;
  /** A provider that is disabled is neither listed nor shown. */
  disable(provider: Provider, on: boolean): void;
}

/** The controls of the external storage. */
export const controlStorage = ({ storage }: World): StorageControl => ({
  down(on) {
    storage.down = on;
  },
  disable(provider, on) {
    if (on) storage.disabled.add(provider);
    else storage.disabled.delete(provider);
  },
});

/** What tests can do to reports and their mail. */
export interface MailControl {
  /**
   * From now on, making a report and delivering a mail take this long, in milliseconds of the service's time. The
   * delivery also of mails that were sent before.
   */
  takes(times: { reportMs: number; deliveryMs: number }): void;
  /** From now on every mail to this address has this status, including mails that were sent before. */
  ends(email: string, status: MailStatus): void;
}

/** The controls of mail; `now` settles the world and returns the service's time. */
export const controlMail = (world: World, now: () => number): MailControl => ({
  takes(times) {
    now();
    world.reporting.takes = times;
  },
  ends(email, status) {
    now();
    world.reporting.mailEnds.set(email, status);
  },
});

/** What tests can do to staging copies. */
export interface StagingControl {
  /**
   * Adds a copy of a site to the account as if it had been made this many days ago, and settles it; returns
   * its id.
   */
  make(siteId: string, daysAgo: number): string;
  /** Removes all copies. */
  clear(): void;
  /** The ids of all copies, in order of creation. */
  ids(): string[];
}

/** The controls of staging copies; `now` settles the world and returns the service's time. */
export const controlStaging = (world: World, now: () => number): StagingControl => ({
  make(siteId, daysAgo) {
    const site = world.sites.get(siteId);
    if (!site) throw new Error(`The sandbox has no site "${siteId}".`);
    const at = now() - daysAgo * DAY;
    const snapshot = { id: `made-for-${siteId}`, createdAt: at };
    const plan = { siteId, siteUrl: site.url, phpVersion: '8.3', user: world.caller, snapshot };
    const { id } = addStaging(world, plan, at);
    now();
    return id;
  },
  clear() {
    now();
    world.staging.clear();
  },
  ids: () => {
    now();
    return [...world.staging.keys()];
  },
});
