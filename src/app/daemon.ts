/** The long-running process: fires policies, works, serves the dashboard, in whatever roles it was given. */
import { hostname } from 'node:os';
import { type Dashboard, startDashboard } from '../dashboard/dashboard.ts';
import { startScheduler } from '../schedule/scheduler.ts';
import type { Caretaker } from './caretaker.ts';
import { overview } from './overview.ts';
import { openPolicyBook } from './policy-book.ts';

export const roles = ['scheduler', 'worker', 'dashboard'] as const;
export type Role = (typeof roles)[number];

export interface Daemon {
  /** The dashboard, when this process serves it. */
  dashboard?: Pick<Dashboard, 'url' | 'signInLink'>;
  /** Takes nothing new, ends what is under way, and leaves. */
  stop(): Promise<void>;
}

const PRESENCE_MS = 5_000;
const PRUNE_MS = 3_600_000;
/** A role whose part of the process was not seen to go on for so long is not at work. */
const STILL_MS = 30_000;

/** Starts the roles in order: work before what makes work, the dashboard when there is something to see. */
export async function startDaemon(options: {
  caretaker: Caretaker;
  roles: readonly Role[];
}): Promise<Daemon> {
  const { caretaker, roles: given } = options;
  const { settings, registry, clock, log, records, engine } = caretaker;
  const book = openPolicyBook({ settings, registry, clock, log });
  const beats = new Map<Role, () => number | undefined>();
  const waiting = () => given.filter((role) => isStill(beats.get(role)?.(), role, clock.now()));
  const stops: (() => Promise<void>)[] = [() => book.close()];
  const stop = async () => {
    for (const end of stops.reverse()) {
      await end().catch((error: unknown) =>
        log.warn({ err: error }, 'a part of the daemon did not stop well'),
      );
    }
  };
  try {
    if (given.includes('worker')) {
      const working = engine.work(settings.daemon.concurrency);
      beats.set('worker', () => working.beatAt());
      stops.push(() => working.stop());
    }
    if (given.includes('scheduler')) {
      const scheduler = startScheduler({
        policies: book.policies,
        fire: (policy, firing) => engine.fire(policy, firing),
        records,
        clock,
        log,
      });
      beats.set('scheduler', () => scheduler.beatAt());
      stops.push(() => scheduler.stop());
    }
    stops.push(keepHouse(caretaker, given));
    if (!given.includes('dashboard')) return { stop };
    const dashboard = await startDashboard({
      ...settings.dashboard,
      ...overview(caretaker, book, { roles: given, waiting }),
      records,
      queues: caretaker.queues,
      clock,
      log,
    });
    stops.push(() => dashboard.close());
    return { dashboard, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Whether a role is not at work. The dashboard that is asked is. */
const isStill = (beatAt: number | undefined, role: Role, now: number): boolean =>
  role !== 'dashboard' && (beatAt === undefined || now - beatAt > STILL_MS);

/** Shows that this process is here, and forgets runs that are older than they need be. */
function keepHouse(caretaker: Caretaker, given: readonly Role[]): () => Promise<void> {
  const { records, clock, log, owner, settings } = caretaker;
  const startedAt = clock.now();
  const leaving = new AbortController();
  let prunedAt = Number.NEGATIVE_INFINITY;
  const round = async () => {
    const seenAt = clock.now();
    await records.presence.show({
      id: owner,
      pid: process.pid,
      host: hostname(),
      roles: [...given],
      startedAt,
      seenAt,
    });
    if (given.includes('scheduler') && seenAt - prunedAt >= PRUNE_MS) {
      prunedAt = seenAt;
      const removed = await records.runs.prune(seenAt - settings.retention.runsMs);
      if (removed > 0) log.info({ runs: removed }, 'old runs forgotten (retention)');
    }
  };
  const rounds = (async () => {
    while (!leaving.signal.aborted) {
      await round().catch((error: unknown) => log.warn({ err: error }, 'housekeeping had to wait'));
      await clock.sleep(PRESENCE_MS, leaving.signal);
    }
  })();
  return async () => {
    leaving.abort();
    await rounds;
    await records.presence.leave(owner);
  };
}
