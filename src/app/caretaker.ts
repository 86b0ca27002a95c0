/**
 * The rooms put together: one opened Caretaker is a connection to Redis with records, queues, engine and
 * accounts on it. Commands and daemon alike work through it.
 */
import type { Clock } from '../clock.ts';
import { createEngine, type Engine } from '../engine/engine.ts';
import { openContinuity } from '../engine/supervise/continuity.ts';
import type { Registry } from '../job/registry.ts';
import type { Log } from '../log.ts';
import { createNotifier } from '../notify/notifier.ts';
import { openQueues, type Queues } from '../queue/queues.ts';
import { RecordsVersionError } from '../records/migrations/migrate.ts';
import { withoutRefusals } from '../redis/refusal.ts';
import type { Settings } from '../settings/settings.ts';
import { type AccountLinks, openAccountLinks } from './account-links.ts';
import { loadJobs } from './jobs.ts';
import { connectRecords, type OpenRecords } from './open-records.ts';

export interface Caretaker extends OpenRecords, Omit<AccountLinks, 'close'> {
  /** Those it was opened with, with what was taken over since. */
  readonly settings: Settings;
  /**
   * Takes over what can be changed while at work: who is told, which days are left out, how long things are
   * kept.
   */
  take(changed: Pick<Settings, 'notifications' | 'calendars' | 'retention'>): void;
  readonly queues: Queues;
  readonly engine: Engine;
  readonly registry: Registry;
}

export interface CaretakerOptions {
  settings: Settings;
  log: Log;
  /** Default: the machine's, set right by Redis's. A test hands in its own. */
  clock?: Clock;
  /**
   * Called when the records no longer have the version of this release: another process has migrated them.
   * Default: this process ends at once, as if it was killed, since whatever it writes from here on may damage
   * them.
   */
  onOtherVersion?: (error: RecordsVersionError) => void;
}

/** How long the queues are given to end well. */
const CLOSE_TIMEOUT_MS = 5_000;

/**
 * Opens Caretaker on the Redis of the settings. Nothing is asked of the service yet.
 *
 * @throws {RedisUnreachableError} {RedisMissingError} {RecordsVersionError}
 */
export async function openCaretaker({
  settings,
  log: whole,
  clock: given,
  onOtherVersion = (error) => {
    whole.error(error.message);
    process.exit(1);
  },
}: CaretakerOptions): Promise<Caretaker> {
  const log = withoutRefusals(whole);
  const [remembered, registry] = await Promise.all([connectRecords(settings, log, given), loadJobs()]);
  const { records, clock, owner, redis } = remembered;
  // Before anything of it is worked on: what Redis holds may be older than what was done.
  const prepare = () =>
    remembered.prepare().catch((error: unknown) => {
      if (error instanceof RecordsVersionError) onOtherVersion(error);
      throw error;
    });
  const continuity = await openContinuity({ records, prepare, dataDir: settings.dataDir, clock, log });
  const back = () =>
    continuity.look().catch((error: unknown) => log.debug({ err: error }, 'Redis was away again at once'));
  redis.store.on('ready', back);
  const queues = openQueues(redis.store, log);
  const links = openAccountLinks(settings, remembered);

  const serves = (name: string): boolean => {
    const known = settings.accounts[name];
    return known?.baseUrl !== undefined && known.token !== undefined;
  };

  // Told beside the work, which must not wait for a slow receiver; waited for when closing.
  const tellings = new Set<Promise<void>>();
  let current = settings;
  const receivers = {
    get notifications() {
      return current.notifications;
    },
  };
  const notifier = createNotifier({ settings: receivers, clock, log });
  const keep = (telling: Promise<void>) => {
    const kept = telling.finally(() => tellings.delete(kept));
    tellings.add(kept);
  };
  const engine = createEngine({
    records,
    queues,
    registry,
    clock,
    log,
    link: links.link,
    serves,
    owner,
    onRunEnded: (run, policy) => keep(notifier.runEnded(run, policy)),
    onPolicyPaused: (run, policy, pause) => keep(notifier.policyPaused(run, policy, pause)),
  });

  return {
    ...remembered,
    ...links,
    get settings() {
      return current;
    },
    take({ notifications, calendars, retention }) {
      current = { ...current, notifications, calendars, retention };
    },
    queues,
    engine,
    registry,
    async close() {
      await Promise.all(tellings);
      redis.store.off('ready', back);
      await continuity.close();
      await links.close();
      // Whatever a queue still waits for in a Redis that is away, the connection is hung up.
      await Promise.race([queues.close(), new Promise((done) => setTimeout(done, CLOSE_TIMEOUT_MS).unref())]);
      await remembered.close();
    },
  };
}
