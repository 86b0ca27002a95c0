/**
 * A door to a Redis, at a port of its own: shut, nobody answers there, as when the machine with Redis on it
 * is gone.
 */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { openRelay } from './relay.ts';

export interface RedisDoor {
  /** What `REDIS_URL` takes. */
  url: string;
  /** Cuts every connection and takes no more. */
  shut(): Promise<void>;
}

export async function openRedisDoor(socketPath: string): Promise<RedisDoor> {
  const { server, close } = openRelay(socketPath, (near, far) => near.pipe(far).pipe(near));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async shut() {
      const closed = once(server, 'close');
      close();
      await closed;
    },
  };
}
