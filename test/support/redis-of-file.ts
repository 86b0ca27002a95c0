import { Redis } from 'ioredis';
import { afterAll } from 'vitest';
import { startTestRedis, type TestRedis } from './redis.ts';

/** A Redis for the tests of one file, with a connection to it; both end with the file. */
export async function redisOfFile(): Promise<{ server: TestRedis; redis: Redis }> {
  const server = await startTestRedis();
  const redis = new Redis(server.options);
  afterAll(async () => {
    redis.disconnect();
    await server.stop();
  });
  return { server, redis };
}
