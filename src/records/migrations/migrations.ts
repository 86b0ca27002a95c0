import { ownKeys } from './0001-own-keys.ts';
import { totals } from './0002-totals.ts';
import { optionNames } from './0003-option-names.ts';
import { standardNames } from './0004-standard-names.ts';
import { findingIndexes } from './0005-finding-indexes.ts';
import type { Migration } from './migration.ts';

/** Every step, in order: the first makes version 1 out of records that have no version. */
export const migrations: readonly Migration[] = [ownKeys, totals, optionNames, standardNames, findingIndexes];

/** The version of the records that this release of Caretaker reads and writes. */
export const RECORDS_VERSION = migrations.length;
