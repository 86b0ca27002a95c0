/**
 * The tick of the scheduler: node-cron fires every few seconds in each daemon, and its run coordinator
 * selects one daemon to handle the tick.
 *
 * The tick itself decides nothing. If the daemon dies while it handles a tick, the next tick does the work:
 * what is due is read from Redis each time.
 */
import { randomUUID } from 'node:crypto';
import { createTask, type Logger, type ScheduledTask } from 'node-cron';
import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import type { LockStore } from '../records/lock-store.ts';

/** A running tick. */
export interface Tick {
  /** Stops the tick. Resolves when the current call has ended. */
  stop(): Promise<void>;
}

export interface CronTickOptions {
  answer: () => Promise<void>;
  /**
   * Called for each tick that this daemon or another one handles. It shows that Redis and node-cron work.
   */
  onBeat?: () => void;
  locks: LockStore;
  /**
   * Daemons with the same group share the ticks. Read at each tick. Daemons with other policies form a group
   * of their own. Default: one group.
   */
  group?: () => string;
  /** The clock that all machines share, by which daemons identify a tick. */
  clock: Pick<Clock, 'now'>;
  log: Log;
  /** Default 5. If a daemon dies, a run starts at most twice this time late. */
  everySeconds?: number;
}

/**
 * A tick that is later than this, because the process was suspended, is skipped. The next one does the work.
 */
const TOLERANCE_MS = 60_000;
const MAX_LATE_MS = 1_000;

/** Calls `answer` at each tick, in one of the daemons on this Redis, and never twice at the same time. */
export function startCronTick(options: CronTickOptions): Tick {
  const { log, everySeconds = 5 } = options;
  // When the clock of the machine is set back, node-cron waits until the former time is reached again.
  const watchdog = setInterval(
    () => {
      if (state.busy > 0) return;
      log.debug('the clock of the machine was set back: restarting the tick');
      void task.destroy();
      task = cronTask(options, state);
      void task.execute().catch(() => undefined); // node-cron has logged it
    },
    everySeconds * 1_000 + MAX_LATE_MS,
  );
  watchdog.unref();
  // Each call puts it off, so it costs nothing while node-cron calls.
  const state: TickState = {
    onCall: () => {
      if (!state.stopped) watchdog.refresh();
    },
    busy: 0,
    stopped: false,
  };
  let task = cronTask(options, state);
  return {
    async stop() {
      state.stopped = true;
      clearInterval(watchdog);
      await task.destroy();
      await state.current?.catch(() => undefined);
    },
  };
}

/** The state of the calls. */
interface TickState {
  /** Called at the begin of each call. */
  onCall: () => void;
  /** Number of calls that wait for the coordinator or are being handled. */
  busy: number;
  stopped: boolean;
  current?: Promise<void>;
}

function cronTask(
  { answer, onBeat, locks, group, clock, log, everySeconds = 5 }: CronTickOptions,
  state: TickState,
): ScheduledTask {
  const during = async <T>(work: () => Promise<T>): Promise<T> => {
    state.onCall();
    state.busy += 1;
    try {
      return await work();
    } finally {
      state.busy -= 1;
    }
  };
  const coordinator = coordinatorOver({ locks, group, clock, spanMs: everySeconds * 1_000 });
  const task = createTask(
    `*/${everySeconds} * * * * *`,
    () => {
      // The coordinator may have been called before the stop and have responded after it.
      if (!state.stopped) state.current = during(answer);
      return state.current;
    },
    {
      name: 'caretaker-tick',
      timezone: 'UTC',
      noOverlap: true,
      distributed: true,
      runCoordinator: {
        shouldRun: () =>
          during(async () => {
            const ours = await coordinator();
            onBeat?.();
            return ours;
          }),
      },
      missedExecutionTolerance: TOLERANCE_MS,
      logger: loggerTo(log),
    },
  );
  void task.start();
  return task;
}

/**
 * The daemon that gets the lease of a tick handles it. The lease then expires. node-cron identifies a tick by
 * the clock of the machine, which may be half a minute ahead of another one: ticks that a dead daemon has
 * handled would be skipped on other machines. So a tick is identified by the clock that all machines share.
 */
function coordinatorOver({
  locks,
  group = () => 'all',
  clock,
  spanMs,
}: Pick<CronTickOptions, 'locks' | 'clock'> & {
  group: CronTickOptions['group'] | undefined;
  spanMs: number;
}): () => Promise<boolean> {
  const owner = randomUUID();
  return () => locks.acquire(`tick:${group()}:${Math.floor(clock.now() / spanMs)}`, owner, 2 * spanMs);
}

/** Messages of node-cron are logged as debug, because nothing is lost by a late or skipped tick. */
const loggerTo = (log: Log): Logger => ({
  info: (message) => log.debug(message),
  debug: (message) => log.debug(String(message)),
  warn: (message) => log.debug(message),
  error: (message, err) => log.error({ err: err ?? message }, 'the scheduler failed to handle a tick'),
});
