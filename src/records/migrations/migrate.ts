/**
 * Brings the records to the version of this release before anything reads them.
 *
 * `{caretaker}:schema` holds two numbers. `version` is raised before the first step: from then on, processes
 * of older releases stop. `migrated` is raised after each step, so that a migration that was interrupted goes
 * on where it was.
 */
import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { type Clock, systemClock } from '../../clock.ts';
import { CaretakerError } from '../../errors.ts';
import type { Log } from '../../log.ts';
import type { Store } from '../../redis/store.ts';
import { keys } from '../keys.ts';
import { LockStore } from '../lock-store.ts';
import { PresenceStore } from '../presence-store.ts';
import { migrations as allMigrations, type Migration, RECORDS_VERSION, versionAfter } from './migrations.ts';

// The id of a process, under which it shows that it is running and holds leases: `host.4711.9f2c01ab-v2`. It
// ends with the version of the records that the process works with, so that a newer process knows whom it
// would disturb.

/** A new id for this process. */
export const processId = (): string =>
  `${hostname()}.${process.pid}.${randomBytes(4).toString('hex')}-v${RECORDS_VERSION}`;

/** The version of the records that a process works with; 0 when the id does not show it. */
export const versionOf = (id: string): number => Number(/-v(\d+)$/.exec(id)?.[1] ?? 0);

/** Where a process runs, in words: `process 4711 on web-1`. */
export function placeOf(id: string): string {
  const [, host, pid] = /^(.+)\.(\d+)\.[^.]+$/.exec(id) ?? [];
  return host === undefined ? id : `process ${pid} on ${host}`;
}

/** This release of Caretaker cannot work with the records as they are. */
export abstract class RecordsVersionError extends CaretakerError {}

/** A newer release of Caretaker has migrated the records. */
export class NewerRecordsError extends RecordsVersionError {
  readonly code = 'NEWER_RECORDS';
  constructor(
    readonly found: number,
    readonly known: number,
  ) {
    super(
      `The records in Redis have version ${found}, and this release of Caretaker works with version ${known}: upgrade Caretaker on this machine, or connect it to another Redis (REDIS_URL).`,
    );
  }
}

/** A restore of the records is in progress, or was interrupted. */
export class IncompleteRestoreError extends RecordsVersionError {
  readonly code = 'INCOMPLETE_RESTORE';
  constructor() {
    super(
      'The records are being restored from a backup, or that was interrupted: wait for "caretaker restore" to end, or run it again with --replace.',
    );
  }
}

/** The records cannot be migrated while processes of an older release use them. */
export class OlderProcessesError extends RecordsVersionError {
  readonly code = 'OLDER_PROCESSES';
  constructor(readonly processes: readonly string[]) {
    const them = processes.length === 1 ? 'it' : 'them';
    super(
      `The records in Redis have to be migrated for this release of Caretaker, and an older release still uses them: ${processes.join(', ')}. Stop ${them}, then start this one again.`,
    );
  }
}

export interface MigrationOptions {
  store: Store;
  /** Who holds the lock: unique for the process. */
  owner: string;
  clock: Clock;
  log: Log;
  /** Default: all there are. A test brings its own. */
  migrations?: readonly Migration[];
  /** Set by the restore itself, which migrates what it has restored. */
  whileRestoring?: true;
}

/** Two processes never migrate at the same time unless one of them stood still for this long. */
const LOCK_MS = 15_000;
/** How often a process looks whether another one has finished. */
const WAIT_MS = 200;
const LOCK = 'schema';

/**
 * Migrates the records if they are older than this release; waits while another process does. Costs one round
 * trip when there is nothing to do.
 *
 * @throws {NewerRecordsError} {OlderProcessesError}
 */
export async function prepareRecords(options: MigrationOptions): Promise<void> {
  const { store, owner, migrations = allMigrations, whileRestoring = false } = options;
  const newest = versionAfter(migrations);
  const locks = new LockStore(store);
  const isReady = async () => {
    const { version, migrated, restoring } = await readSchema(store);
    if (restoring && !whileRestoring) throw new IncompleteRestoreError();
    if (version > newest) throw new NewerRecordsError(version, newest);
    return migrated === newest;
  };
  for (;;) {
    if (await isReady()) return;
    if (await locks.acquire(LOCK, owner, LOCK_MS)) break;
    await systemClock.sleep(WAIT_MS);
  }
  const renewal = setInterval(() => void locks.acquire(LOCK, owner, LOCK_MS).catch(() => false), LOCK_MS / 3);
  try {
    // Another process may have done it between the look and the lock.
    if (!(await isReady())) await migrate({ ...options, migrations });
  } finally {
    clearInterval(renewal);
    await locks.release(LOCK, owner);
  }
}

async function migrate({
  store,
  clock,
  log,
  migrations,
}: MigrationOptions & { migrations: readonly Migration[] }): Promise<void> {
  const { version, migrated } = await readSchema(store);
  const newest = versionAfter(migrations);
  await refuseOlderProcesses(store, clock.now(), newest);
  if (version < newest) {
    await store.hset(keys.schema, 'version', newest, 'migrated', migrated);
    // One may have started in between. It has read the lower number, and would go on for some seconds.
    await refuseOlderProcesses(store, clock.now(), newest).catch(async (error: unknown) => {
      await store.hset(keys.schema, 'version', version);
      throw error;
    });
  }
  // Records without a version are new: processes of this release began them, perhaps just now.
  if (migrated === 0) await store.hset(keys.schema, 'version', newest, 'migrated', newest);
  const hasRuns = (await store.exists(keys.runs)) === 1;
  for (const [done, { summary, run }] of migrations.entries()) {
    const reached = done + 2;
    if (migrated === 0 || reached <= migrated) continue;
    await run({ store, now: clock.now(), log });
    // With the version, so that both are there if Redis was emptied meanwhile.
    await store.hset(keys.schema, 'version', newest, 'migrated', reached);
    if (hasRuns) log.info(`the records were migrated to version ${reached}: ${summary}`);
  }
}

/**
 * The version for which the records are, or are being, migrated, and the one they have reached. 0: they have
 * none.
 */
async function readSchema(store: Store): Promise<{ version: number; migrated: number; restoring: boolean }> {
  const [version, migrated, restoring] = await store.hmget(keys.schema, 'version', 'migrated', 'restoring');
  return { version: Number(version ?? 0), migrated: Number(migrated ?? 0), restoring: restoring === '1' };
}

/** No release has records of this version: no process writes an intent, or starts, while it is there. */
const NO_VERSION = 1_000_000;

/** From here until `endRestore`, no process works with the records. */
export const beginRestore = (store: Store): Promise<unknown> =>
  store.hset(keys.schema, 'restoring', '1', 'version', NO_VERSION);

/** The records that were restored have this version, and are to be migrated from there. */
export const noteRestored = (store: Store, version: number): Promise<unknown> =>
  store.hset(keys.schema, 'version', version, 'migrated', version);

export const endRestore = (store: Store): Promise<unknown> => store.hdel(keys.schema, 'restoring');

/** @throws {OlderProcessesError} naming daemons, and commands that work on runs. */
async function refuseOlderProcesses(store: Store, now: number, newest: number): Promise<void> {
  const here = await new PresenceStore(store).ids(now);
  const locks = new LockStore(store);
  const accounts = await store.smembers(keys.activeAccounts);
  const leases = await Promise.all(accounts.map((account) => locks.holder(`supervisor:${account}`)));
  const older = [...here, ...leases].filter((id) => id !== undefined && versionOf(id) < newest);
  const places = [...new Set(older.map((id) => placeOf(id ?? '')))].sort();
  if (places.length > 0) throw new OlderProcessesError(places);
}
