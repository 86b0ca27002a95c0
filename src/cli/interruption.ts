/**
 * Handles Ctrl-C and SIGTERM while a command follows a run. After the first signal, the process records work
 * in progress and then exits. The second signal ends it immediately. Work that cannot be recorded, because
 * Redis is unavailable, is reconciled when the run continues.
 */
import { systemClock } from '../clock.ts';
import { exit } from './exit.ts';
import type { Io } from './io.ts';
import type { Terminal } from './output/terminal.ts';

/** The maximum time to wait for Redis after the first signal. */
const REDIS_TIMEOUT_MS = 10_000;
const PING_INTERVAL_MS = 1_000;
/** The maximum time from the first signal to the end of the process, whatever Redis answers. */
const STOP_TIMEOUT_MS = 28_000;

export interface Interruption {
  /** Aborted by the first signal. */
  readonly signal: AbortSignal;
  /** Removes the signal handlers. */
  readonly removeHandlers: () => void;
}

/**
 * Gives why work in progress is not recorded: Redis has not responded for ten seconds, or the time to stop is over.
 * Undefined when `ended` aborts first.
 */
export async function findWhyNotRecorded(
  ping: () => Promise<unknown>,
  ended: AbortSignal,
): Promise<'no-redis' | 'too-late' | undefined> {
  const late = systemClock.sleep(STOP_TIMEOUT_MS, ended).then(() => 'too-late' as const);
  for (;;) {
    // Redis is available when it responds with an error. That error is reported elsewhere.
    const answered = ping().then(
      () => undefined,
      () => undefined,
    );
    const timedOut = systemClock.sleep(REDIS_TIMEOUT_MS, ended).then(() => 'no-redis' as const);
    const why =
      (await Promise.race([answered, timedOut, late])) ??
      (await Promise.race([systemClock.sleep(PING_INTERVAL_MS, ended), late]));
    if (ended.aborted) return undefined;
    if (why) return why;
  }
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
    void exitUnrecorded();
  };
  const exitUnrecorded = async () => {
    const why = await findWhyNotRecorded(ping, ended.signal);
    if (!why) return;
    const because = why === 'no-redis' ? 'because Redis does not respond' : 'because it took too long';
    exitWith(`Work in progress could not be recorded, ${because}`);
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

const signals = ['SIGINT', 'SIGTERM'] as const;

/** Calls `handle` at each SIGINT or SIGTERM, until the returned function is called. */
export function onSignals(io: Pick<Io, 'on' | 'off'>, handle: (signal: NodeJS.Signals) => void): () => void {
  const handlers = signals.map((signal) => [signal, () => handle(signal)] as const);
  for (const [signal, one] of handlers) io.on(signal, one);
  return () => {
    for (const [signal, one] of handlers) io.off(signal, one);
  };
}

/**
 * Resolves with the name of the first SIGINT or SIGTERM. A second one ends the process immediately.
 */
export function untilSignal(io: Pick<Io, 'on' | 'off' | 'exit'>): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let received = false;
    onSignals(io, (signal) => {
      if (received) io.exit(signal === 'SIGINT' ? 130 : 143);
      received = true;
      resolve(signal);
    });
  });
}
