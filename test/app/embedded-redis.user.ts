/** What the tests run in a process of its own: it opens the folder's Redis and closes it on SIGTERM. */
import { openEmbeddedRedis } from '../../src/app/embedded-redis.ts';
import { openLog } from '../../src/log.ts';

export async function use(dataDir: string) {
  const log = await openLog({ level: 'warn', form: 'json' });
  const redis = await openEmbeddedRedis({ dataDir, log });
  process.once('SIGTERM', () => void redis.close().then(() => process.exit(0)));
  return redis;
}
