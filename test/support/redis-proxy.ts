/**
 * A proxy to a Redis, at its own port. While it is closed, nothing answers there, as when the machine with
 * Redis is down.
 */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { openRelay } from './relay.ts';

export interface RedisProxy {
  /** The value for `REDIS_URL`. */
  url: string;
  /** Closes every connection and accepts no more. */
  close(): Promise<void>;
}

export async function openRedisProxy(socketPath: string): Promise<RedisProxy> {
  const { server, close } = openRelay(socketPath, (near, far) => near.pipe(far).pipe(near));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      const closed = once(server, 'close');
      close();
      await closed;
    },
  };
}
