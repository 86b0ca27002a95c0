/** The long-running process: fires policies, works, serves the dashboard, in whatever roles it was given. */
import { hostname } from 'node:os';
import { isoMinute } from '../clock.ts';
import { type Dashboard, startDashboard } from '../dashboard/dashboard.ts';
import { CaretakerError, systemCodeOf } from '../errors.ts';
import { type ConfigWatch, watchConfig } from '../policy/file-watcher.ts';
import { openPolicyBook, type PolicyBook } from '../policy/policy-watcher.ts';
import { formatFreeze } from '../records/freeze-store.ts';
import { watchRedis } from '../redis/health.ts';
import { openPolicyAgreement, type PolicyAgreement } from '../schedule/policy-agreement.ts';
import { startScheduler } from '../schedule/scheduler.ts';
import type { Caretaker } from './caretaker.ts';
import { overview } from './overview.ts';
import { tellBeginnings } from './run-log.ts';

export const roles = ['scheduler', 'worker', 'dashboard'] as const;
export type Role = (typeof roles)[number];

export interface Daemon {
  /** The dashboard, when this process serves it. */
  dashboard?: Pick<Dashboard, 'url' | 'signInLink'>;
  /** Takes nothing new, ends what is under way, and leaves. */
  stop(): Promise<void>;
}

/** Another daemon on the same Redis has the port of the dashboard. */
export class DaemonRunsError extends CaretakerError {
  readonly code = 'DAEMON_RUNS';
}

const HEARTBEAT_INTERVAL_MS = 5_000;
const PRUNE_INTERVAL_MS = 3_600_000;
/** A role whose part of the process was not seen to go on for so long is not at work. */
const STILL_AFTER_MS = 30_000;

/**
 * Starts the roles in order: work before what makes work, the dashboard when there is something to see.
 *
 * @throws {DaemonRunsError} {DashboardError} when the dashboard cannot be served.
 */
export async function startDaemon(options: {
  caretaker: Caretaker;
  roles: readonly Role[];
  /**
   * Where the settings come from, so that their changes are noticed. Default: they are not looked at again.
   */
  config?: ConfigWatch;
}): Promise<Daemon> {
  const { caretaker, roles: given } = options;
  const { settings, registry, clock, log, records, engine } = caretaker;
  const book = openPolicyBook({ settings: () => caretaker.settings, registry, clock, log });
  const fires = given.includes('scheduler');
  const agreement = openPolicyAgreement({ book, fires, owner: caretaker.owner, records, clock, log });
  const house = { caretaker, given, book, agreement, startedAt: clock.now() };
  const beats = new Map<Role, () => number | undefined>();
  const waiting = () => given.filter((role) => isStill(beats.get(role)?.(), role, clock.now()));
  const watch = watchRedis({ store: caretaker.redis.store, queues: caretaker.queues, clock, log });
  const stops: (() => Promise<void>)[] = [() => book.close(), () => watch.close()];
  const stop = async () => {
    for (const end of stops.reverse()) {
      await end().catch((error: unknown) =>
        log.warn({ err: error }, 'a part of the daemon did not stop well'),
      );
    }
  };
  try {
    if (given.includes('worker')) {
      stops.push(tellBeginnings(caretaker));
      const working = engine.work(settings.daemon.concurrency);
      beats.set('worker', () => working.beatAt());
      stops.push(() => working.stop());
    }
    if (fires) {
      // Before anything fires, the daemons know of each other what they have read.
      await showPresence(house);
      await agreement.look();
      const scheduler = startScheduler({
        policies: agreement.active,
        group: agreement.digestOfActive,
        fire: (policy, firing) => engine.fire(policy, firing),
        records,
        clock,
        log,
      });
      beats.set('scheduler', () => scheduler.beatAt());
      stops.push(() => scheduler.stop());
    }
    if (options.config) {
      const { config } = options;
      stops.push(watchConfig(config, { started: settings, take: caretaker.take, clock, log }));
    }
    if (!given.includes('dashboard')) {
      stops.push(heartbeat(house));
      return { stop };
    }
    const dashboard = await startDashboard({
      ...settings.dashboard,
      ...overview(caretaker, book, {
        roles: given,
        waiting,
        differences: agreement.differences,
        troubles: watch.troubles,
      }),
      records,
      queues: caretaker.queues,
      clock,
      log,
    }).catch(async (error: unknown) => {
      throw (await runningAlready(error, caretaker)) ?? error;
    });
    stops.push(() => dashboard.close());
    stops.push(heartbeat({ ...house, dashboardPort: Number(new URL(dashboard.url).port) }));
    return { dashboard, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Whether a role is not at work. The dashboard that is asked is. */
const isStill = (beatAt: number | undefined, role: Role, now: number): boolean =>
  role !== 'dashboard' && (beatAt === undefined || now - beatAt > STILL_AFTER_MS);

/**
 * Whether the port is taken by a daemon that shares our work, which is another matter than a stranger's
 * program.
 */
async function runningAlready(error: unknown, caretaker: Caretaker): Promise<DaemonRunsError | undefined> {
  if (systemCodeOf(error) !== 'EADDRINUSE') return undefined;
  const { settings, records, clock } = caretaker;
  const { port } = settings.dashboard;
  const here = await records.presence.here(clock.now());
  const other = here.find((one) => one.host === hostname() && one.dashboardPort === port);
  if (!other) return undefined;
  const started = `process ${other.pid}, since ${isoMinute(other.startedAt)}`;
  return new DaemonRunsError(
    `A daemon runs here already (${started}) and serves the dashboard on port ${port}. To share its work, start this one with --roles scheduler,worker; for a second dashboard, add --port.`,
    { cause: error },
  );
}

interface House {
  caretaker: Caretaker;
  given: readonly Role[];
  book: PolicyBook;
  agreement: PolicyAgreement;
  startedAt: number;
  dashboardPort?: number;
}

/** Shows that this process is here, and what it has read. */
function showPresence({ caretaker, given, book, agreement, startedAt, dashboardPort }: House): Promise<void> {
  return caretaker.records.presence.show({
    id: caretaker.owner,
    pid: process.pid,
    host: hostname(),
    roles: [...given],
    startedAt,
    seenAt: caretaker.clock.now(),
    ...(dashboardPort === undefined ? {} : { dashboardPort }),
    keeps: [...book.kept()],
    policies: agreement.digest(),
  });
}

/** Shows that this process is here, and forgets runs that are older than they need be. */
function heartbeat(house: House): () => Promise<void> {
  const { caretaker, given, agreement } = house;
  const { records, clock, log, owner } = caretaker;
  const leaving = new AbortController();
  let prunedAt = Number.NEGATIVE_INFINITY;
  let frozen: string | undefined;
  const round = async () => {
    const seenAt = clock.now();
    const freeze = await records.freeze.at(seenAt);
    const words = freeze && formatFreeze(freeze);
    if (words !== frozen) {
      if (words === undefined) log.info('no longer frozen: policies fire again');
      else log.warn(`everything is ${words}: no run starts`);
    }
    frozen = words;
    await showPresence(house);
    await agreement.look();
    if (given.includes('scheduler') && seenAt - prunedAt >= PRUNE_INTERVAL_MS) {
      prunedAt = seenAt;
      const before = seenAt - caretaker.settings.retention.runsMs;
      await records.ledger.prune(before);
      const removed = await records.runs.prune(before);
      if (removed > 0) log.info({ runs: removed }, 'old runs forgotten (retention)');
    }
  };
  const rounds = (async () => {
    while (!leaving.signal.aborted) {
      await round().catch((error: unknown) => log.warn({ err: error }, 'housekeeping had to wait'));
      await clock.sleep(HEARTBEAT_INTERVAL_MS, leaving.signal);
    }
  })();
  return async () => {
    leaving.abort();
    await rounds;
    await records.presence.leave(owner);
  };
}
