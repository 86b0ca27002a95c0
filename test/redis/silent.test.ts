/** For how long Redis has not answered, by which liveness fails. */
import { Redis } from 'ioredis';
import { expect, onTestFinished, test, vi } from 'vitest';
import { watchRedis } from '../../src/redis/health.ts';
import { heldClock } from '../support/held-clock.ts';
import { keptLog } from '../support/quiet.ts';
import { startTestRedis } from '../support/redis.ts';

test("the time since Redis answered grows while it does not, by this process's own clock", async () => {
  const server = await startTestRedis();
  const store = new Redis({ ...server.options, maxRetriesPerRequest: null });
  const clock = heldClock();
  const queues = { paused: async () => [] };
  const watch = watchRedis({ store, queues, clock, log: keptLog() });
  onTestFinished(async () => {
    await watch.close();
    store.disconnect();
    await server.stop();
  });
  const checked = async () => {
    while (clock.sleepers() === 0) await new Promise(setImmediate);
  };
  await checked();
  let later = 0;
  const now = performance.now.bind(performance);
  const spy = vi.spyOn(performance, 'now').mockImplementation(() => now() + later);
  onTestFinished(() => spy.mockRestore());

  store.disconnect();
  await clock.advance(5_000);
  await checked();
  later = 300_000;
  expect(watch.silentMs()).toBeGreaterThanOrEqual(300_000);

  await store.connect();
  await clock.advance(5_000);
  await checked();
  expect(watch.silentMs()).toBeLessThan(300_000);
});
