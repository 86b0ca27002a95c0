/**
 * The records and the clock on the Redis of the settings: all that is needed to look things up, or to note
 * what others are to do. Knows neither queues nor engine nor accounts, so that it opens at once.
 */
import { type Clock, steadyClock } from '../clock.ts';
import type { Log } from '../log.ts';
import { prepareRecords } from '../records/migrations/migrate.ts';
import { processId } from '../records/migrations/process-id.ts';
import { openRecords, type Records } from '../records/records.ts';
import { keepInSync, redisClock } from '../redis/clock.ts';
import { type Connected, connectRedis } from '../redis/connect.ts';
import type { Settings } from '../settings/settings.ts';

export interface OpenRecords {
  readonly records: Records;
  readonly clock: Clock;
  readonly log: Log;
  /** Unique for this process and this opening. */
  readonly owner: string;
  /** Where Redis is, safe to show. */
  readonly redis: Connected;
  /**
   * Looks whether the records still have the version of this release, and migrates older ones. Costs one
   * round trip.
   *
   * @throws {RecordsVersionError}
   */
  prepare(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Opens them. `clock` is a test's own; by default it is the machine's, set right by Redis's.
 *
 * @throws {RedisUnreachableError} {RedisMissingError} {RecordsVersionError}
 */
export async function connectRecords(
  { redis: where, dataDir }: Pick<Settings, 'redis' | 'dataDir'>,
  log: Log,
  clock?: Clock,
): Promise<OpenRecords> {
  const redis = await connectRedis(where, dataDir, log);
  const shared = clock ? undefined : await redisClock(redis.store, steadyClock);
  const letClockBe = shared && keepInSync(shared, log);
  const owner = processId();
  const opened: OpenRecords = {
    records: openRecords(redis.store),
    clock: clock ?? shared ?? steadyClock,
    log,
    owner,
    redis,
    prepare: () => prepareRecords({ store: redis.store, owner, clock: opened.clock, log }),
    async close() {
      letClockBe?.();
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
