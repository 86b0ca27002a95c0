/**
 * The tick: node-cron calls every few seconds, and its run coordinator has one daemon answer each call.
 *
 * It decides nothing. A call that nobody answers, because its daemon died over it, is made up for by the next one:
 * what is due is read from Redis each time.
 */
import { randomUUID } from 'node:crypto';
import { createTask, type Logger, type RunCoordinator } from 'node-cron';
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
  /** Called at every call that some daemon answers, this one or another: Redis and node-cron are both at work. */
  onBeat?: () => void;
  locks: LockStore;
  /** By its time, shared by all machines, the daemons agree on which call is which. */
  clock: Pick<Clock, 'now'>;
  log: Log;
  /** Default 5: no longer than twice that a firing waits when its daemon dies. */
  everySeconds?: number;
}

/** A call that comes later than this, because the process stood still, is left to the next. */
const TOLERANCE_MS = 60_000;

/** Starts calling `answer`, never again before it is done, and each time in one of all daemons on this Redis. */
export function startCronTick({
  answer,
  onBeat,
  locks,
  clock,
  log,
  everySeconds = 5,
}: CronTickOptions): Tick {
  let stopped = false;
  let atWork: Promise<void> = Promise.resolve();
  const task = createTask(
    `*/${everySeconds} * * * * *`,
    () => {
      // The coordinator may have been asked before the stop and have answered after it.
      if (!stopped) atWork = answer();
      return atWork;
    },
    {
      name: 'caretaker-tick',
      timezone: 'UTC',
      noOverlap: true,
      distributed: true,
      runCoordinator: coordinatorOver({ locks, clock, onBeat, spanMs: everySeconds * 1_000 }),
      missedExecutionTolerance: TOLERANCE_MS,
      logger: loggerTo(log),
    },
  );
  void task.start();
  return {
    async stop() {
      stopped = true;
      await task.destroy();
      await atWork.catch(() => undefined); // node-cron has told the log
    },
  };
}

/**
 * Whoever takes a call's lease first answers it; the lease is left to run out. node-cron names a call by the machine's
 * clock, which may be half a minute ahead of another's: a daemon that dies would leave calls answered that have not come yet
 * elsewhere. So a call is named by the time that all machines share.
 */
function coordinatorOver({
  locks,
  clock,
  onBeat,
  spanMs,
}: Pick<CronTickOptions, 'locks' | 'clock'> & {
  onBeat: (() => void) | undefined;
  spanMs: number;
}): RunCoordinator {
  const owner = randomUUID();
  return {
    async shouldRun() {
      const call = Math.floor(clock.now() / spanMs);
      const ours = await locks.take(`tick:${call}`, owner, 2 * spanMs);
      onBeat?.();
      return ours;
    },
  };
}

/** node-cron's own words are for the author: nothing is lost by a call that is late or left out. */
const loggerTo = (log: Log): Logger => ({
  info: (message) => log.debug(message),
  debug: (message) => log.debug(String(message)),
  warn: (message) => log.debug(message),
  error: (message, err) => log.error({ err: err ?? message }, 'the scheduler did not answer a tick'),
});
