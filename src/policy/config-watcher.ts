/**
 * Watches the configuration of a running daemon. Some keys apply immediately. The others, such as connections
 * and accounts, are used only at start; the log reports that they need a restart.
 */
import { type FSWatcher, statSync, watch } from 'node:fs';
import { dirname } from 'node:path';
import { type Clock, restOf } from '../clock.ts';
import { messageOf } from '../errors.ts';
import type { Log } from '../log.ts';
import type { Settings } from '../settings/settings.ts';

// When files may have changed: the system reports changes in their folders. It does not for every network mount, and not
// for a folder that is replaced, so the files are looked at now and then in any case.

/** From a change until the files are looked at; and between looks while the system reports no changes. */
const LOOK_INTERVAL_MS = 500;
/** Between looks while it does. */
const SLOW_INTERVAL_MS = 5_000;

export interface FolderWatch {
  /** Resolves when it is time to look at the files, or when the watch is closed. */
  next(): Promise<void>;
  /** They are to be looked at soon, for another reason. */
  wake(): void;
  close(): void;
}

/** Watches folders, which may be missing. */
export function watchFolders(folders: readonly string[], clock: Clock): FolderWatch {
  const closing = new AbortController();
  const rest = restOf(clock, closing.signal);
  const watched = new Map<string, { inode: number; watcher: FSWatcher }>();
  const forget = (folder: string) => {
    watched.get(folder)?.watcher.close();
    watched.delete(folder);
  };
  /** Whether changes in the folder are reported from now on. */
  const isWatched = (folder: string): boolean => {
    const inode = statSync(folder, { throwIfNoEntry: false })?.ino;
    if (inode !== undefined && watched.get(folder)?.inode === inode) return true;
    forget(folder);
    if (inode === undefined) return false;
    try {
      const watcher = watch(folder, { persistent: false }, rest.wake);
      watcher.on('error', () => forget(folder));
      watched.set(folder, { inode, watcher });
      return true;
    } catch {
      return false; // the number of watches of a machine is limited
    }
  };
  const each = [...new Set(folders)];
  for (const folder of each) isWatched(folder);
  return {
    next: () =>
      rest.for(each.map(isWatched).every(Boolean) ? SLOW_INTERVAL_MS : LOOK_INTERVAL_MS, LOOK_INTERVAL_MS),
    wake: rest.wake,
    close() {
      closing.abort();
      for (const folder of each) forget(folder);
    },
  };
}

export interface ConfigWatch {
  /** The files that the settings come from. */
  files: readonly string[];
  /** Reads them again. */
  read: () => Settings;
}

/** Settings that apply immediately, with their keys in the file. */
const live = {
  access: 'access',
  notifications: 'notifications',
  calendars: 'calendars',
  maintenance: 'maintenance',
  retention: 'retention',
} as const;
/** Settings that need a restart, with their keys in the file. */
const fixed = {
  accounts: 'accounts',
  redis: 'redis',
  policiesDir: 'policies',
  dataDir: 'data_dir',
  daemon: 'daemon',
  audit: 'audit',
  dashboard: 'dashboard',
} as const;

/** The keys of the file whose values differ between two versions of the settings. */
export function configChanges(before: Settings, after: Settings): { live: string[]; fixed: string[] } {
  const differ = (names: Partial<Record<keyof Settings, string>>) =>
    Object.entries(names)
      .filter(([key]) => !same(before[key as keyof Settings], after[key as keyof Settings]))
      .map(([, name]) => name);
  return { live: differ(live), fixed: differ(fixed) };
}

const same = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

/** Passes changed settings to `take` when a file changes. Returns a function that stops the watch. */
export function watchConfig(
  { files, read }: ConfigWatch,
  parts: { started: Settings; take: (settings: Settings) => void; clock: Clock; log: Log },
): () => Promise<void> {
  const { started, take, clock, log } = parts;
  const closing = new AbortController();
  const folders = watchFolders(files.map(dirname), clock);
  let seen = fingerprintOf(files);
  let last = started;

  const readAgain = () => {
    let now: Settings;
    try {
      now = read();
    } catch (error) {
      const why = messageOf(error).replace(/\.$/, '');
      return log.error(
        `the configuration changed and cannot be used: ${why}; the daemon keeps the previous configuration`,
      );
    }
    const changes = configChanges(last, now);
    const waiting = configChanges(started, now).fixed;
    last = now;
    take(now);
    if (changes.live.length > 0)
      log.info(
        `the configuration changed: ${list(changes.live)} ${changes.live.length === 1 ? 'applies' : 'apply'} now`,
      );
    if (waiting.length > 0) {
      const verb = waiting.length === 1 ? 'applies' : 'apply';
      return log.warn(
        `the configuration changed: ${list(waiting)} ${verb} only after a restart of the daemon`,
      );
    }
    if (changes.fixed.length > 0)
      return log.info('the configuration changed: it is the same as when the daemon was started');
    if (changes.live.length === 0) log.info('the configuration changed, but no setting did');
  };

  const watching = (async () => {
    while (!closing.signal.aborted) {
      await folders.next();
      const now = fingerprintOf(files);
      if (closing.signal.aborted || now === seen) continue;
      seen = now;
      readAgain();
    }
  })();
  return async () => {
    closing.abort();
    folders.close();
    await watching;
  };
}

/** `accounts, redis and daemon` */
const list = (keys: readonly string[]): string =>
  keys.length < 2 ? keys.join('') : `${keys.slice(0, -1).join(', ')} and ${keys.at(-1)}`;

/** Differs when a file was changed, replaced, added or removed. */
const fingerprintOf = (files: readonly string[]): string =>
  files
    .map((file) => {
      const stats = statSync(file, { throwIfNoEntry: false });
      return `${stats?.mtimeMs} ${stats?.ctimeMs} ${stats?.size} ${stats?.ino}`;
    })
    .join('\n');
