/** A door to a Redis, at a port of its own: shut, nobody answers there, as when the machine with Redis on it is gone. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface RedisDoor {
  /** What `REDIS_URL` takes. */
  url: string;
  /** Cuts every connection and takes no more. */
  shut(): Promise<void>;
}

export async function openRedisDoor(socketPath: string): Promise<RedisDoor> {
  const open = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(socketPath);
    for (const socket of [near, far]) {
      open.add(socket);
      socket.on('error', () => socket.destroy());
      socket.on('close', () => {
        open.delete(socket);
        near.destroy();
        far.destroy();
      });
    }
    near.pipe(far).pipe(near);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async shut() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of open) socket.destroy();
      await closed;
    },
  };
}
