import type { Migration } from './migration.ts';

/** Every step, in order: the first makes version 2 out of version 1. */
export const migrations: readonly Migration[] = [];

/** The version of records after these steps. */
export const versionAfter = (steps: readonly Migration[]): number => 1 + steps.length;

/** The version of the records that this release of Caretaker reads and writes. */
export const RECORDS_VERSION = versionAfter(migrations);
