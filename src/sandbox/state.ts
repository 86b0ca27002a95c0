/**
 * Stores the account in a file, so that a restarted sandbox has it again.
 *
 * The file uses V8's own serialization, which keeps maps, sets and shared references. It is replaced as a
 * whole, so that it always holds a complete state when the process dies.
 */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { deserialize, serialize } from 'node:v8';
import type { Clock } from '../clock.ts';
import type { World } from './model/world.ts';
import { createAgenda } from './world/time.ts';

/** Increase it when the structure of the world changes. */
const FORMAT = 2;

interface SavedState {
  world: World;
  /** The service's time and the clock's time when it was saved. */
  serviceAt: number;
  clockAt: number;
}

interface Written extends Omit<SavedState, 'world'> {
  format: number;
  world: Omit<World, 'agenda'> & { agenda: ReturnType<World['agenda']['entries']> };
}

/** Replaces the file with this state. */
function writeState(file: string, { world, serviceAt, clockAt }: SavedState): void {
  const written: Written = {
    format: FORMAT,
    serviceAt,
    clockAt,
    world: { ...world, agenda: world.agenda.entries() },
  };
  const beside = `${file}.new`;
  writeFileSync(beside, serialize(written), { mode: 0o600, flush: true });
  renameSync(beside, file);
}

/**
 * The state in a file; undefined when the file does not exist.
 *
 * @throws {Error} when the file contains something else, or the state of another version.
 */
export function readState(file: string): SavedState | undefined {
  const bytes = bytesOf(file);
  if (!bytes) return undefined;
  const { format, world, serviceAt, clockAt } = parsed(file, bytes);
  if (format !== FORMAT) {
    throw new Error(
      `${file} was written by another version of the sandbox: move it away to start with a new account.`,
    );
  }
  return { world: { ...world, agenda: createAgenda(world.agenda) }, serviceAt, clockAt };
}

function bytesOf(file: string): Buffer | undefined {
  try {
    return readFileSync(file);
  } catch (error) {
    if ((error as { code?: string }).code === 'ENOENT') return undefined;
    throw error;
  }
}

function parsed(file: string, bytes: Buffer): Written {
  try {
    const value: unknown = deserialize(bytes);
    if (typeof value === 'object' && value !== null && 'format' in value) return value as Written;
  } catch (error) {
    throw new Error(`${file} is not a state file of the sandbox: move it away to start with a new account.`, {
      cause: error,
    });
  }
  throw new Error(`${file} is not a state file of the sandbox: move it away to start with a new account.`);
}

/** The service's time when a saved state is resumed: meanwhile it passed as fast as the clock. */
export const resumedAt = ({ serviceAt, clockAt }: SavedState, clockNow: number): number =>
  serviceAt + Math.max(0, clockNow - clockAt);

// Keeps a state file up to date: within a second of a change, once for all changes of that second, and at the
// end.

/** How long after a change the file is written. */
const SAVE_DELAY_MS = 1000;

interface Autosave {
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
