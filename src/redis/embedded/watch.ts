/** Brings the server of a folder back when it is killed while somebody uses it. */
import { dirname } from 'node:path';
import { CaretakerError } from '../../errors.ts';
import type { Log } from '../../log.ts';
import { healthOf } from './command.ts';
import { DataFolderError, type RedisFolder } from './folder.ts';
import { withLock } from './lock.ts';
import { ensureServer } from './server.ts';

const lookEveryMs = 500;
/** After a start that failed, so that a server which cannot start does not keep the machine busy. */
const retryAfterMs = 5_000;
/**
 * The same is said so often at most: a server on a full disk starts again and again, and ends with the first
 * write.
 */
const sayAgainAfterMs = 10 * 60_000;

/**
 * Looks every half second whether the server answers, and starts it again when it does not. Every user does
 * so; the lock lets one of them act. It does not keep the process alive, and what goes wrong is logged, once
 * for long.
 */
export function watchServer(folder: RedisFolder, log: Log): { stop(): Promise<void> } {
  let looking: Promise<void> | undefined;
  let stopped = false;
  let complaint = { message: '', at: 0 };
  let notBefore = 0;

  const look = async () => {
    if (performance.now() < notBefore || (await healthOf(folder.socketPath)) !== 'down') return;
    try {
      const started = await withLock(folder.lock, async () => !stopped && ensureServer(folder));
      if (started)
        log.warn({ folder: folder.dir }, 'The embedded Redis was gone and has been started again.');
    } catch (error) {
      const known = error instanceof CaretakerError;
      const { message } = known ? error : new DataFolderError(dirname(folder.dir), { cause: error });
      // A sentence is enough for whoever has to make room; where it happened in our code is of no use to
      // anybody.
      const at = performance.now();
      if (message !== complaint.message || at - complaint.at >= sayAgainAfterMs) {
        log.error({ folder: folder.dir }, message);
        complaint = { message, at };
      }
      notBefore = at + retryAfterMs;
    }
  };
  const timer = setInterval(() => {
    looking ??= look().finally(() => {
      looking = undefined;
    });
  }, lookEveryMs);
  timer.unref();
  return {
    async stop() {
      stopped = true;
      clearInterval(timer);
      await looking;
    },
  };
}
