import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import { type Desk, type Process, untilSeen } from '../support/cli.ts';
import { startTestRedis } from '../support/redis.ts';
import { openRedisProxy } from '../support/redis-proxy.ts';

/** A Redis that can become unavailable to processes that use it. */
export async function redisThatGoes(): Promise<{ url: string; goes(): Promise<void> }> {
  const redis = await startTestRedis();
  const proxy = await openRedisProxy(redis.socketPath);
  return {
    url: proxy.url,
    async goes() {
      await proxy.close();
      await redis.stop();
    },
  };
}

/** A process with an active run whose Redis became unavailable, and that got a signal. */
export async function interruptedWithoutRedis(desk: Desk, { journal }: Sandbox): Promise<Process> {
  const redis = await redisThatGoes();
  const before = journal.effects.length;
  const started = desk.spawn(['run', 'nightly-sync'], { REDIS_URL: redis.url });
  await untilSeen(() => journal.effects.length > before);
  await redis.goes();
  started.child.kill('SIGTERM');
  await started.line(/^Stopping after /);
  return started;
}
