import { expect, test } from 'vitest';
import { watchServer } from '../../../src/redis/embedded/watch.ts';
import { keptLog } from '../../support/quiet.ts';

test('an unusable data folder without a server is logged in one sentence, without a stack', async () => {
  const log = keptLog();
  const inTheWay = '/dev/null/redis';
  const watch = watchServer(
    {
      dir: inTheWay,
      socketPath: `${inTheWay}/redis.sock`,
      pidFile: `${inTheWay}/redis.pid`,
      logFile: `${inTheWay}/redis.log`,
      users: `${inTheWay}/users`,
      lock: `${inTheWay}/lock`,
    },
    log,
  );
  await expect.poll(() => log.lines, { timeout: 5_000 }).toHaveLength(1);
  await watch.stop();
  expect(log.lines[0]).toMatch(/^error The data folder \/dev\/null .*its path contains a file/);
  expect(log.lines[0]).not.toContain('stack');
});
