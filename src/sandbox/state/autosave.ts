/**
 * Keeps a state file up to date: within a second of a change, once for all changes of that second, and at the
 * end.
 */
import type { Clock } from '../../clock.ts';
import { type SavedState, writeState } from './state-file.ts';

/** How long after a change the file is written. */
const SAVE_DELAY_MS = 1000;

export interface Autosave {
  /** Reports a change that is not in the file yet. */
  changed(): void;
  /** Writes the final state. @throws {Error} when this or an earlier write failed. */
  stop(): Promise<void>;
}

/** Begins by writing the current `state`; without a file it does nothing. */
export function autosaveState(file: string | undefined, clock: Clock, state: () => SavedState): Autosave {
  if (file === undefined) return { changed: () => undefined, stop: async () => undefined };
  const ended = new AbortController();
  let failure: unknown;
  let waiting: Promise<void> | undefined;
  const save = () => {
    try {
      writeState(file, state());
    } catch (error) {
      // stop() reports it: the sandbox continues to answer when its disk is full.
      failure ??= error;
    }
  };
  const saveSoon = async () => {
    await clock.sleep(SAVE_DELAY_MS, ended.signal);
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
