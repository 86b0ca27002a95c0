/**
 * Puts the rooms together: an opened Caretaker is a connection to Redis with records, queues, engine and
 * accounts. The daemon and the commands use it.
 */
import type { Clock } from '../clock.ts';
import { serviceAddress } from '../contract/service-address.ts';
import { createEngine, type Engine } from '../engine/engine.ts';
import { openContinuity } from '../engine/supervise/continuity.ts';
import type { Registry } from '../job/registry.ts';
import type { Log } from '../log.ts';
import { createNotifier, type Notifier } from '../notify/notifier.ts';
import { openQueues, type Queues } from '../queue/queues.ts';
import { RecordsVersionError } from '../records/migrations/migrate.ts';
import { withoutRefusals } from '../redis/refusal.ts';
import { noteMaintenance } from '../schedule/maintenance.ts';
import type { Settings } from '../settings/settings.ts';
import { tracedQueues } from '../trace/traces.ts';
import { type AccountLinks, type OnWait, openAccountLinks } from './account-links.ts';
import { notePaused } from './audit-events.ts';
import { loadJobs } from './load-jobs.ts';
import { connectRecords, type OpenRecords } from './open-records.ts';
import { withTraces } from './tracing.ts';

export interface Caretaker extends OpenRecords, Omit<AccountLinks, 'close'> {
  /** The settings it was opened with, with the changes that `take` received. */
  readonly settings: Settings;
  /** Applies the settings that can change while it runs. */
  take(
    changed: Partial<Pick<Settings, 'access' | 'notifications' | 'calendars' | 'maintenance' | 'retention'>>,
  ): void;
  readonly queues: Queues;
  readonly engine: Engine;
  readonly notifier: Notifier;
  readonly registry: Registry;
  /** Records the next times of freezes that recur. */
  noteMaintenance(): Promise<void>;
}

export interface CaretakerOptions {
  settings: Settings;
  log: Log;
  /** Default: the machine's clock, corrected by Redis's. Tests pass their own. */
  clock?: Clock | undefined;
  /**
   * Called when another process has migrated the records to another version. Default: the process exits
   * immediately, since anything that it writes now may damage them.
   */
  onOtherVersion?: (error: RecordsVersionError) => void;
  onWait?: OnWait;
}

/** How long the queues may take to close. */
const CLOSE_TIMEOUT_MS = 5_000;

/**
 * Opens Caretaker on the Redis of the settings. Sends no request to the service yet.
 *
 * @throws {RedisUnreachableError} {RedisMissingError} {RecordsVersionError}
 */
export async function openCaretaker({
  settings,
  log: unfilteredLog,
  clock: given,
  onWait,
  onOtherVersion = (error) => {
    unfilteredLog.error(error.message);
    process.exit(1);
  },
}: CaretakerOptions): Promise<Caretaker> {
  const [{ opened, traces }, registry] = await Promise.all([
    connectRecords(settings, withoutRefusals(unfilteredLog), given).then((one) => withTraces(one, settings)),
    loadJobs(),
  ]);
  const { records, clock, owner, redis, log } = opened;
  // Before any work: Redis may have been restored to a state that is older than what was done.
  const prepare = () =>
    opened.prepare().catch((error: unknown) => {
      if (error instanceof RecordsVersionError) onOtherVersion(error);
      throw error;
    });
  const continuity = await openContinuity({ records, prepare, dataDir: settings.dataDir, clock, log });
  const onReconnect = () =>
    continuity
      .check()
      .catch((error: unknown) => log.debug({ err: error }, 'Redis was lost again immediately'));
  redis.store.on('ready', onReconnect);
  const onTaken = (queue: string, waitedMs: number) =>
    records.measurements.note('queueWait', [queue], waitedMs);
  const untraced = openQueues(redis.store, log, { onTaken, telemetry: traces?.telemetry, process: owner });
  const queues = traces ? tracedQueues(untraced, traces) : untraced;
  const links = openAccountLinks(settings, opened, onWait);

  const addressOf = (name: string): string | undefined => {
    const known = settings.accounts[name];
    if (known?.baseUrl === undefined || known.token === undefined) return undefined;
    return serviceAddress(known.baseUrl);
  };

  let current = settings;
  const receivers = {
    get notifications() {
      return current.notifications;
    },
    dashboard: settings.dashboard,
  };
  const notifier = createNotifier({ records, queues, settings: receivers, clock, log });
  const noteTimes = () => noteMaintenance(records, current.maintenance, clock);
  const engine = createEngine({
    records,
    queues,
    registry,
    clock,
    log,
    link: links.link,
    addressOf,
    owner,
    noteMaintenance: noteTimes,
    traces,
    onPolicyPaused: (run, policy, pause) => notePaused(opened.audit, run, policy, pause),
  });

  return {
    ...opened,
    ...links,
    get settings() {
      return current;
    },
    take(changed) {
      const { access, notifications, calendars, maintenance, retention } = { ...current, ...changed };
      current = { ...current, access, notifications, calendars, maintenance, retention };
    },
    queues,
    engine,
    notifier,
    registry,
    noteMaintenance: noteTimes,
    async close() {
      redis.store.off('ready', onReconnect);
      await continuity.close();
      await records.measurements.publish();
      await links.close();
      // A queue may wait for a Redis that is away, so the connection is closed after a while in any case.
      const timeout = new Promise((done) => setTimeout(done, CLOSE_TIMEOUT_MS).unref());
      await Promise.all([Promise.race([queues.close(), timeout]), traces?.close()]);
      await opened.close();
    },
  };
}
