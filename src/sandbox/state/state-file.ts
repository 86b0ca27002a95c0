/**
 * The account in a file, so that it is there again when the sandbox is started again.
 *
 * Written with V8's own serialization: it keeps maps, sets and what is the same object in two places. The
 * file is replaced as a whole, so that it holds one state or the other whenever the process dies.
 */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { deserialize, serialize } from 'node:v8';
import type { World } from '../model/world.ts';
import { createAgenda } from '../world/agenda.ts';

/** To be raised when what is in the world changes its form. */
const FORMAT = 2;

export interface SavedState {
  world: World;
  /** The service's time when it was saved, and that of the clock. */
  serviceAt: number;
  clockAt: number;
}

interface Written extends Omit<SavedState, 'world'> {
  format: number;
  world: Omit<World, 'agenda'> & { agenda: ReturnType<World['agenda']['entries']> };
}

/** Replaces the file by this state. */
export function writeState(file: string, { world, serviceAt, clockAt }: SavedState): void {
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
 * The state in a file; nothing when there is no such file.
 *
 * @throws {Error} when the file holds something else, or the state of another version.
 */
export function readState(file: string): SavedState | undefined {
  const bytes = bytesOf(file);
  if (!bytes) return undefined;
  const { format, world, serviceAt, clockAt } = understood(file, bytes);
  if (format !== FORMAT) {
    throw new Error(`${file} was written by another version of the sandbox: move it away to begin again.`);
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

function understood(file: string, bytes: Buffer): Written {
  try {
    const value: unknown = deserialize(bytes);
    if (typeof value === 'object' && value !== null && 'format' in value) return value as Written;
  } catch (error) {
    throw new Error(`${file} holds no state of a sandbox: move it away to begin again.`, { cause: error });
  }
  throw new Error(`${file} holds no state of a sandbox: move it away to begin again.`);
}

/** The service's time when a saved one goes on: meanwhile it went as fast as the clock. */
export const resumedAt = ({ serviceAt, clockAt }: SavedState, clockNow: number): number =>
  serviceAt + Math.max(0, clockNow - clockAt);
