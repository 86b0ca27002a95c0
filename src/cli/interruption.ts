/**
 * Handles Ctrl-C and SIGTERM while a command follows a run. After the first signal, the process records work
 * in progress and then exits. The second signal ends it immediately. Work that cannot be recorded, because
 * Redis is unavailable, is reconciled when the run continues.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { exit } from './exit.ts';
import type { Terminal } from './output/terminal.ts';
import { onSignals } from './signals.ts';

/** The maximum time to wait for Redis after the first signal. */
const REDIS_TIMEOUT_MS = 10_000;
const PING_INTERVAL_MS = 1_000;

export interface Interruption {
  /** Aborted by the first signal. */
  readonly signal: AbortSignal;
  /** Removes the signal handlers. */
  readonly removeHandlers: () => void;
}

/**
 * Resolves with true when Redis has not responded for ten seconds, and with false when `ended` aborts first.
 */
export async function redisIsUnavailable(ping: () => Promise<unknown>, ended: AbortSignal): Promise<boolean> {
  while (!ended.aborted) {
    // Redis is available when it responds with an error. That error is reported elsewhere.
    const answered = ping().then(
      () => true,
      () => true,
    );
    const timedOut = sleep(REDIS_TIMEOUT_MS, false, { signal: ended }).catch(() => true);
    if (!(await Promise.race([answered, timedOut]))) return true;
    await sleep(PING_INTERVAL_MS, undefined, { signal: ended }).catch(() => undefined);
  }
  return false;
}

/** `continueWith` is the command that continues the work, if there is one. `ping` is any request to Redis. */
export function handleSignals(
  terminal: Terminal,
  { continueWith, ping }: { continueWith: string | undefined; ping: () => Promise<unknown> },
): Interruption {
  const interrupt = new AbortController();
  const ended = new AbortController();
  const exitWith = (text: string): never => {
    terminal.message(continueWith === undefined ? `${text}.` : `${text}. Continue with: ${continueWith}`);
    return terminal.io.exit(exit.interrupted);
  };
  const onSignal = () => {
    if (interrupt.signal.aborted) exitWith('Stopped immediately');
    interrupt.abort();
    terminal.message('Stopping after work in progress is recorded. Press Ctrl-C again to stop immediately.');
    void exitWithoutRedis();
  };
  const exitWithoutRedis = async () => {
    if (await redisIsUnavailable(ping, ended.signal))
      exitWith('Work in progress could not be recorded, because Redis does not respond');
  };
  const removeHandlers = onSignals(terminal.io, onSignal);
  return {
    signal: interrupt.signal,
    removeHandlers: () => {
      ended.abort();
      removeHandlers();
    },
  };
}
