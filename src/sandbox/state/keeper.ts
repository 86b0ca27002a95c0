/** Keeps a state file up to date: soon after a change, once for all changes of a second, and at the end. */
import type { Clock } from '../../clock.ts';
import { type SavedState, writeState } from './state-file.ts';

/** How long after a change the file is written. */
const SAVES_AFTER_MS = 1000;

export interface Keeper {
  /** Something has changed that the file does not know. */
  changed(): void;
  /** Writes the last state. @throws {Error} when this or an earlier writing failed. */
  stop(): Promise<void>;
}

/** Starts with the file as `state` is now; without a file there is nothing to keep. */
export function keepState(file: string | undefined, clock: Clock, state: () => SavedState): Keeper {
  if (file === undefined) return { changed: () => undefined, stop: async () => undefined };
  const ended = new AbortController();
  let failure: unknown;
  let waiting: Promise<void> | undefined;
  const save = () => {
    try {
      writeState(file, state());
    } catch (error) {
      // Told by stop(): a sandbox goes on answering when its disk is full.
      failure ??= error;
    }
  };
  const saveSoon = async () => {
    await clock.sleep(SAVES_AFTER_MS, ended.signal);
    waiting = undefined;
    if (!ended.signal.aborted) save();
  };
  writeState(file, state());
  return {
    changed() {
      waiting ??= saveSoon();
    },
    async stop() {
      ended.abort();
      await waiting;
      save();
      if (failure !== undefined) throw failure;
    },
  };
}
