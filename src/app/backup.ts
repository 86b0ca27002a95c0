/**
 * Backups of the records, and how they are restored.
 *
 * A restored backup is an older state of the records: what was done after it was taken is not known. So it is treated
 * as every older state: runs that had not ended are held, and times that were due since then are skipped.
 */
import { type Clock, steadyClock } from '../clock.ts';
import { openAudit } from '../control/audit.ts';
import { acceptRestored } from '../engine/supervise/continuity.ts';
import type { Log } from '../log.ts';
import type { AuditLine } from '../records/audit-store.ts';
import { BackupError, checkBackupFile, entriesOf, writeBackupFile } from '../records/backup/backup-file.ts';
import { hasRecords, readRecords, removeRecords, writeRecords } from '../records/backup/kept-records.ts';
import { keys } from '../records/keys.ts';
import {
  beginRestore,
  endRestore,
  NewerRecordsError,
  noteRestored,
  placeOf,
  prepareRecords,
  processId,
} from '../records/migrations/migrate.ts';
import { RECORDS_VERSION } from '../records/migrations/migrations.ts';
import { openRecords } from '../records/records.ts';
import { redisClock } from '../redis/clock.ts';
import { connectRedis } from '../redis/connect.ts';
import { keysLike, type Store } from '../redis/store.ts';
import type { Settings } from '../settings/settings.ts';
import type { OpenRecords } from './open-records.ts';
import { version } from './version.ts';

type Who = Pick<AuditLine, 'who' | 'from' | 'why'>;

/**
 * Writes the records into a file while work goes on. Reads a run, or a hundred other keys, at a time. Returns the
 * number of keys.
 */
export async function takeBackup(
  file: string,
  { redis, clock, audit }: Pick<OpenRecords, 'redis' | 'clock' | 'audit'>,
  by: Who,
): Promise<number> {
  const header = { records: RECORDS_VERSION, caretaker: version, taken_at: clock.now() };
  // Keys expire by the clock of Redis, which a test's is not.
  const expiry = await redisClock(redis.store, steadyClock);
  const count = await writeBackupFile(file, header, readRecords(redis.store, expiry));
  await audit.note({ ...by, what: 'records.backup', result: 'done', detail: `${count} keys` });
  return count;
}

export interface Restored {
  /** When the backup was taken. */
  takenAt: number;
  runs: number;
  /** The runs that had not ended then: a person releases or cancels each. */
  held: string[];
}

/**
 * Replaces the records by those of a backup. From its begin to its end, no process of Caretaker can start on this
 * Redis; when it was interrupted, not before it has been repeated.
 *
 * @throws {BackupError} before anything is changed, when the file is damaged, a process runs, or Redis has records and
 * `replace` is not set.
 * @throws {NewerRecordsError} before anything is changed, when a newer release wrote the backup.
 */
export async function restoreBackup(
  file: string,
  settings: Pick<Settings, 'redis' | 'dataDir' | 'audit'>,
  { replace, by, log, clock: given }: { replace: boolean; by: Who; log: Log; clock?: Clock },
): Promise<Restored> {
  const { records: recordsVersion, taken_at: takenAt } = await checkBackupFile(file);
  if (recordsVersion > RECORDS_VERSION) throw new NewerRecordsError(recordsVersion, RECORDS_VERSION);
  const { store, close } = await connectRedis(settings.redis, settings.dataDir, log);
  try {
    const clock = given ?? (await redisClock(store, steadyClock));
    await refuseWhileRunning(store, clock.now());
    if (!replace && (await hasRecords(store)))
      throw new BackupError(
        'Redis has records already, and nothing was changed. --replace deletes them, and restores those of the backup.',
      );
    await beginRestore(store);
    await refuseWhileRunning(store, clock.now());
    await removeRecords(store);
    const runs = await writeRecords(store, entriesOf(file));
    await noteRestored(store, recordsVersion);
    await prepareRecords({ store, owner: processId(), clock, log, whileRestoring: true });
    const records = openRecords(store);
    const held = await acceptRestored({ records, log }, { since: takenAt, now: clock.now() });
    await endRestore(store);
    await openAudit({ records, clock, keptMs: settings.audit.keptMs, log }).note({
      ...{ ...by, what: 'records.restore', result: 'done' },
      detail: `taken at ${new Date(takenAt).toISOString()}, ${runs} runs, ${held.length} of them held`,
    });
    return { takenAt, runs, held: held.map(({ id }) => id) };
  } finally {
    await close();
  }
}

/** @throws {BackupError} naming daemons, and commands that work on runs. */
async function refuseWhileRunning(store: Store, now: number): Promise<void> {
  const running = new Set(await openRecords(store).presence.ids(now));
  for await (const key of keysLike(store, keys.lock('supervisor:*'))) {
    const owner = await store.get(key);
    if (owner !== null) running.add(owner);
  }
  const places = [...new Set([...running].map(placeOf))].sort();
  if (places.length > 0)
    throw new BackupError(
      `Nothing can be restored while processes use the records: ${places.join(', ')}. Stop them first. One that was killed counts for another 15 seconds.`,
    );
}
