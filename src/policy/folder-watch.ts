/**
 * When files may have changed: the system reports changes in their folders. It does not for every network mount, and not
 * for a folder that is replaced, so the files are looked at now and then in any case.
 */
import { type FSWatcher, statSync, watch } from 'node:fs';
import { type Clock, restOf } from '../clock.ts';

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
