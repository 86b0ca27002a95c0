/** Functions that the tests run in separate processes. */

import { openLog } from '../../../src/log.ts';
import { openEmbeddedRedis } from '../../../src/redis/embedded/embedded.ts';
import { withLock } from '../../../src/redis/embedded/lock.ts';

/** Opens the folder's Redis and closes it on SIGTERM. */
export async function use(dataDir: string) {
  const log = await openLog({ level: 'warn', form: 'json' });
  const redis = await openEmbeddedRedis({ dataDir, log });
  process.once('SIGTERM', () => void redis.close().then(() => process.exit(0)));
  return redis;
}

/** Resolves when it has the lock, and keeps it. */
export function takeLock(folder: string): Promise<void> {
  return new Promise((resolve, reject) => {
    withLock(folder, () => {
      resolve();
      return new Promise(() => {});
    }).catch(reject);
  });
}
