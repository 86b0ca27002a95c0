import type { Log } from '../../log.ts';
import type { Store } from '../../redis/store.ts';

/** Every step, in order: the first makes version 2 out of version 1. */
export const migrations: readonly Migration[] = [];

/** The version of records after these steps. */
export const versionAfter = (steps: readonly Migration[]): number => 1 + steps.length;

/** The version of the records that this release of Caretaker reads and writes. */
export const RECORDS_VERSION = versionAfter(migrations);

/** What a migration works with. */
export interface MigrationContext {
  store: Store;
  /** The time by the shared clock, in milliseconds since 1970. */
  now: number;
  log: Log;
}

/**
 * One step from a version of the records to the next.
 *
 * A step may be interrupted at any point and is then run again from its beginning, so it must recognize what
 * it has already done. It also has to bear that other processes of this release write records meanwhile: when Redis
 * was emptied or replaced while they run, records get their version only after that. So it never writes a value over
 * one that changed since it was read. It names the keys as they are in its two versions, not by `keys.ts`: those change,
 * and a step does not.
 */
export interface Migration {
  /** What it changes, as a clause for the log. */
  summary: string;
  run(context: MigrationContext): Promise<void>;
}
