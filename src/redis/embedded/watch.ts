/** Restarts the server of a folder when it is killed while in use. */
import { dirname } from 'node:path';
import { CaretakerError } from '../../errors.ts';
import type { Log } from '../../log.ts';
import { healthOf } from './command.ts';
import { DataFolderError, type RedisFolder } from './folder.ts';
import { withLock } from './lock.ts';
import { ensureServer } from './server.ts';

const CHECK_INTERVAL_MS = 500;
/** After a failed start, so that a server which cannot start does not keep the machine busy. */
const RETRY_AFTER_MS = 5_000;
/**
 * How often the same error is logged at most: a server on a full disk starts again and again, and exits at
 * the first write.
 */
const REPEAT_AFTER_MS = 10 * 60_000;

/**
 * Checks every half second whether the server answers, and restarts it if not. Every user does so; the lock
 * lets one of them act. The timer does not keep the process alive. Errors are logged, the same one only once
 * in a while.
 */
export function watchServer(folder: RedisFolder, log: Log): { stop(): Promise<void> } {
  let checking: Promise<void> | undefined;
  let stopped = false;
  let lastError = { message: '', at: 0 };
  let notBefore = 0;

  const check = async () => {
    if (performance.now() < notBefore || (await healthOf(folder.socketPath)) !== 'down') return;
    try {
      const started = await withLock(folder.lock, async () => !stopped && ensureServer(folder));
      if (started) log.warn({ folder: folder.dir }, 'The embedded Redis had exited and was restarted.');
    } catch (error) {
      const known = error instanceof CaretakerError;
      const { message } = known ? error : new DataFolderError(dirname(folder.dir), { cause: error });
      // The message is enough to free some space; the stack trace does not help.
      const at = performance.now();
      if (message !== lastError.message || at - lastError.at >= REPEAT_AFTER_MS) {
        log.error({ folder: folder.dir }, message);
        lastError = { message, at };
      }
      notBefore = at + RETRY_AFTER_MS;
    }
  };
  const timer = setInterval(() => {
    checking ??= check().finally(() => {
      checking = undefined;
    });
  }, CHECK_INTERVAL_MS);
  timer.unref();
  return {
    async stop() {
      stopped = true;
      clearInterval(timer);
      await checking;
    },
  };
}
