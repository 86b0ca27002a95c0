/**
 * The tick: node-cron calls every few seconds, and its run coordinator has one daemon answer each call.
 *
 * It decides nothing. A call that nobody answers, because its daemon died over it, is caught up by the next
 * one: what is due is read from Redis each time.
 */
import { randomUUID } from 'node:crypto';
import { createTask, type Logger, type ScheduledTask } from 'node-cron';
import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import type { LockStore } from '../records/lock-store.ts';

/** A tick under way. */
export interface Tick {
  /** Ends the calls; resolves when the one at work is done. */
  stop(): Promise<void>;
}

export interface CronTickOptions {
  answer: () => Promise<void>;
  /**
   * Called at every call that some daemon answers, this one or another: Redis and node-cron are both at work.
   */
  onBeat?: () => void;
  locks: LockStore;
  /**
   * The daemons of one name share their calls; asked at each. Those with other policies answer calls of their
   * own. Default: all share them.
   */
  group?: () => string;
  /** By its time, shared by all machines, the daemons agree on which call is which. */
  clock: Pick<Clock, 'now'>;
  log: Log;
  /** Default 5: no longer than twice that a firing waits when its daemon dies. */
  everySeconds?: number;
}

/** A call that comes later than this, because the process stood still, is left to the next. */
const TOLERANCE_MS = 60_000;
const CHECK_INTERVAL_MS = 1_000;

/**
 * Starts calling `answer`, never again before it is done, and each time in one of all daemons on this Redis.
 */
export function startCronTick(options: CronTickOptions): Tick {
  const { log, everySeconds = 5 } = options;
  const silentMs = everySeconds * 1_000 + CHECK_INTERVAL_MS;
  const beat: Beat = { calledAt: performance.now(), busy: 0, stopped: false };
  let task = cronTask(options, beat);
  // When the machine's clock is put back, node-cron waits until it is as late again as it was.
  const looking = setInterval(() => {
    if (beat.busy > 0 || performance.now() - beat.calledAt <= silentMs) return;
    beat.calledAt = performance.now();
    log.debug('the machine’s clock was put back: the tick starts again');
    void task.destroy();
    task = cronTask(options, beat);
    void task.execute().catch(() => undefined); // node-cron has told the log
  }, CHECK_INTERVAL_MS);
  looking.unref();
  return {
    async stop() {
      beat.stopped = true;
      clearInterval(looking);
      await task.destroy();
      await beat.atWork?.catch(() => undefined);
    },
  };
}

/** What is known of the calls, by time that is steady. */
interface Beat {
  calledAt: number;
  /** Calls that wait for the coordinator or are being answered. */
  busy: number;
  stopped: boolean;
  atWork?: Promise<void>;
}

function cronTask(
  { answer, onBeat, locks, group, clock, log, everySeconds = 5 }: CronTickOptions,
  beat: Beat,
): ScheduledTask {
  const during = async <T>(work: () => Promise<T>): Promise<T> => {
    beat.calledAt = performance.now();
    beat.busy += 1;
    try {
      return await work();
    } finally {
      beat.busy -= 1;
    }
  };
  const coordinator = coordinatorOver({ locks, group, clock, spanMs: everySeconds * 1_000 });
  const task = createTask(
    `*/${everySeconds} * * * * *`,
    () => {
      // The coordinator may have been asked before the stop and have answered after it.
      if (!beat.stopped) beat.atWork = during(answer);
      return beat.atWork;
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
 * Whoever takes a call's lease first answers it; the lease is left to run out. node-cron names a call by the
 * machine's clock, which may be half a minute ahead of another's: a daemon that dies would leave calls
 * answered that have not come yet elsewhere. So a call is named by the time that all machines share.
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

/** node-cron's own words are for the author: nothing is lost by a call that is late or left out. */
const loggerTo = (log: Log): Logger => ({
  info: (message) => log.debug(message),
  debug: (message) => log.debug(String(message)),
  warn: (message) => log.debug(message),
  error: (message, err) => log.error({ err: err ?? message }, 'the scheduler did not answer a tick'),
});
