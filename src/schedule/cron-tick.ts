/**
 * The tick: node-cron calls every few seconds, and its run coordinator has one daemon answer each call.
 *
 * It decides nothing. A call that nobody answers, because its daemon died over it, is made up for by the next one:
 * what is due is read from Redis each time.
 */
import { randomUUID } from 'node:crypto';
import { createTask, type Logger, type RunCoordinator } from 'node-cron';
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
  log: Log;
  /** A cron expression with seconds, in UTC. Default every 5 s: so long a firing waits when its daemon dies. */
  every?: string;
}

/** A call that comes later than this, because the process stood still, is left to the next. */
const TOLERANCE_MS = 60_000;

/** Starts calling `answer`, never again before it is done, and each time in one of all daemons on this Redis. */
export function startCronTick({
  answer,
  onBeat,
  locks,
  log,
  every = '*/5 * * * * *',
}: CronTickOptions): Tick {
  let stopped = false;
  let atWork: Promise<void> = Promise.resolve();
  const task = createTask(
    every,
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
      runCoordinator: coordinatorOver(locks, onBeat),
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

/** Whoever takes a call's lease first answers it; the lease is left to run out, so that a late clock finds it taken. */
function coordinatorOver(locks: LockStore, onBeat?: () => void): RunCoordinator {
  const owner = randomUUID();
  return {
    async shouldRun(call, ttlMs) {
      const ours = await locks.take(`tick:${call}`, owner, ttlMs);
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
