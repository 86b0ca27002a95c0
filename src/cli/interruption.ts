/**
 * Ctrl-C and SIGTERM while a command follows a run: after the first, work in progress is recorded before the
 * process ends; the second ends it at once. What cannot be recorded because Redis is unavailable is found out
 * when the run continues.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { exit } from './exit.ts';
import type { Terminal } from './output/terminal.ts';

/** How long to wait for Redis after the first signal. */
const REDIS_TIMEOUT_MS = 10_000;
const PING_INTERVAL_MS = 1_000;

export interface Interruption {
  /** Aborted by the first signal. */
  readonly signal: AbortSignal;
  /** Removes the signal handlers. */
  readonly over: () => void;
}

/**
 * Resolves with true when Redis does not answer for ten seconds, with false when `over` aborts first.
 */
export async function redisIsUnavailable(ask: () => Promise<unknown>, over: AbortSignal): Promise<boolean> {
  while (!over.aborted) {
    // A Redis that answers with an error is there; what it says comes out elsewhere.
    const answered = ask().then(
      () => true,
      () => true,
    );
    const given = sleep(REDIS_TIMEOUT_MS, false, { signal: over }).catch(() => true);
    if (!(await Promise.race([answered, given]))) return true;
    await sleep(PING_INTERVAL_MS, undefined, { signal: over }).catch(() => undefined);
  }
  return false;
}

/** `goOn` is the command that takes the work up again, where there is one; `ask` is any question to Redis. */
export function handleSignals(
  terminal: Terminal,
  { goOn, ask }: { goOn: string | undefined; ask: () => Promise<unknown> },
): Interruption {
  const interrupt = new AbortController();
  const over = new AbortController();
  const leave = (words: string): never => {
    terminal.message(goOn === undefined ? `${words}.` : `${words}; continue with: ${goOn}`);
    process.exit(exit.interrupted);
  };
  const heed = () => {
    if (interrupt.signal.aborted) leave('Stopped at once');
    interrupt.abort();
    terminal.message('Stopping: what is under way is being recorded. Ctrl-C again stops at once.');
    void leaveWithoutRedis();
  };
  const leaveWithoutRedis = async () => {
    if (await redisIsUnavailable(ask, over.signal))
      leave('What was under way could not be recorded yet: Redis does not answer');
  };
  process.on('SIGINT', heed);
  process.on('SIGTERM', heed);
  return {
    signal: interrupt.signal,
    over: () => {
      over.abort();
      process.off('SIGINT', heed);
      process.off('SIGTERM', heed);
    },
  };
}
