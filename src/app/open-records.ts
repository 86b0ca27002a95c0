/**
 * The records and the clock on the Redis of the settings: for commands that only read, or that record a request
 * for the daemon. It opens fast, since it has no queues, engine or accounts.
 */
import { type Clock, steadyClock } from '../clock.ts';
import { type Audit, openAudit, openAuditFile } from '../control/audit.ts';
import type { Log } from '../log.ts';
import { prepareRecords, processId } from '../records/migrations/migrate.ts';
import { openRecords, type Records } from '../records/records.ts';
import { noteClockJump } from '../records/reported.ts';
import { keepInSync, redisClock } from '../redis/clock.ts';
import { type Connected, connectRedis } from '../redis/connect.ts';
import type { Settings } from '../settings/settings.ts';
import { formatDuration } from '../yaml/duration.ts';

export interface OpenRecords {
  readonly records: Records;
  readonly audit: Audit;
  readonly clock: Clock;
  readonly log: Log;
  /** Unique for this process and this opening. */
  readonly owner: string;
  /** The connection to Redis, and its address without secrets. */
  readonly redis: Connected;
  /**
   * Checks that the records have the version of this release, and migrates older ones. The check costs one
   * round trip.
   *
   * @throws {RecordsVersionError}
   */
  prepare(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Opens them. By default the clock is the machine's, corrected by Redis's; tests pass their own.
 *
 * @throws {RedisUnreachableError} {RedisMissingError} {RecordsVersionError}
 */
export async function connectRecords(
  { redis: where, dataDir, audit }: Pick<Settings, 'redis' | 'dataDir' | 'audit'>,
  log: Log,
  clock?: Clock,
): Promise<OpenRecords> {
  const redis = await connectRedis(where, dataDir, log);
  const onJump = (byMs: number) => {
    const [direction, by] = [byMs > 0 ? 'forward' : 'back', formatDuration(Math.abs(byMs))];
    log.warn(`the clock of Redis went ${direction} by ${by}: check the time service of its machine`);
    noteClockJump(records.alerts, { at: usedClock.now(), byMs }).catch((error: unknown) =>
      log.debug({ err: error }, 'the jump could not be recorded'),
    );
  };
  const shared = clock ? undefined : await redisClock(redis.store, steadyClock, { onJump });
  const stopClockSync = shared && keepInSync(shared, log);
  const owner = processId();
  const records = openRecords(redis.store);
  const usedClock = clock ?? shared ?? steadyClock;
  const opened: OpenRecords = {
    records,
    clock: usedClock,
    audit: openAudit({
      records,
      clock: usedClock,
      keptMs: audit.keptMs,
      log,
      file: audit.file === undefined ? undefined : openAuditFile(audit.file, log),
    }),
    log,
    owner,
    redis,
    prepare: () => prepareRecords({ store: redis.store, owner, clock: opened.clock, log }),
    async close() {
      stopClockSync?.();
      await redis.close();
    },
  };
  try {
    await opened.prepare();
    return opened;
  } catch (error) {
    await opened.close();
    throw error;
  }
}
