/** Restarts the server of a folder when it is killed while in use. */
import { connect } from 'node:net';
import { dirname } from 'node:path';
import { CaretakerError } from '../../errors.ts';
import type { Log } from '../../log.ts';
import { DataFolderError, type RedisFolder } from './folder.ts';
import { withLock } from './lock.ts';
import { ensureServer, healthOf } from './server.ts';

/** Between checks of a server that does not end: its socket may have been deleted. */
const CHECK_INTERVAL_MS = 5_000;
/** Between the end of a server and the check of the next one. */
const PAUSE_MS = 500;
/** After a failed start, so that a server which cannot start does not keep the machine busy. */
const RETRY_AFTER_MS = 5_000;
/**
 * How often the same error is logged at most: a server on a full disk starts again and again, and exits at
 * the first write.
 */
const REPEAT_AFTER_MS = 10 * 60_000;

/**
 * Holds a connection to the server, which ends when the server does, and then restarts the server; a server whose
 * connection stays is asked now and then. Every user does so; the lock lets one of them act. The watch does not keep
 * the process alive. Errors are logged, the same one only once in a while.
 */
export function watchServer(folder: RedisFolder, log: Log): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const { signal } = stopping;
  let lastError = { message: '', at: 0 };

  /** Restarts the server if it does not answer. Returns how long to wait before the server is looked at again. */
  const check = async (): Promise<number> => {
    if ((await healthOf(folder.socketPath)) !== 'down') return 0;
    try {
      const started = await withLock(folder.lock, async () => !signal.aborted && ensureServer(folder));
      if (started) log.warn({ folder: folder.dir }, 'The embedded Redis had exited and was restarted.');
      return PAUSE_MS;
    } catch (error) {
      const known = error instanceof CaretakerError;
      const { message } = known ? error : new DataFolderError(dirname(folder.dir), { cause: error });
      // The message is enough to free some space; the stack trace does not help.
      const at = performance.now();
      if (message !== lastError.message || at - lastError.at >= REPEAT_AFTER_MS) {
        log.error({ folder: folder.dir }, message);
        lastError = { message, at };
      }
      return RETRY_AFTER_MS;
    }
  };
  const watching = (async () => {
    while (!signal.aborted) {
      const isEnd = await connectionEnds(folder.socketPath, CHECK_INTERVAL_MS, signal);
      if (signal.aborted) return;
      const wait = await check();
      // A server that ends each connection is not asked all the time.
      await pause(isEnd ? Math.max(wait, PAUSE_MS) : wait, signal);
    }
  })();
  return {
    async stop() {
      stopping.abort();
      await watching;
    },
  };
}

/** Whether a connection to the server ended, or could not be opened, within `ms`. False when the signal aborts. */
async function connectionEnds(socketPath: string, ms: number, signal: AbortSignal): Promise<boolean> {
  const over = new AbortController();
  let isEnd = false;
  const end = () => {
    isEnd = true;
    over.abort();
  };
  // What is received is dropped, so that the end of the connection is seen.
  const socket = connect(socketPath).on('error', end).on('close', end).resume().unref();
  await pause(ms, AbortSignal.any([over.signal, signal]));
  socket.off('close', end).destroy();
  return isEnd;
}

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted || ms === 0) return resolve();
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms).unref();
    signal.addEventListener('abort', done, { once: true });
  });
