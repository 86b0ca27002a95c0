/** A relay between a client and a Redis or the service, for tests that separate the two. */
import { connect, createServer, type Server, type Socket, type TcpNetConnectOpts } from 'node:net';

export interface Relay {
  server: Server;
  /** Accepts no more connections, and closes the open ones. */
  close(): void;
}

/**
 * A server, not listening yet, that forwards each connection to a Unix socket or a port, which may change; `join`
 * connects the two.
 */
export function openRelay(
  to: string | TcpNetConnectOpts | (() => string),
  join: (near: Socket, far: Socket) => void,
): Relay {
  const open = new Set<Socket>();
  const server = createServer((near) => {
    const far = typeof to === 'object' ? connect(to) : connect(typeof to === 'string' ? to : to());
    for (const socket of [near, far]) {
      open.add(socket);
      socket.on('error', () => socket.destroy());
      socket.on('close', () => {
        open.delete(socket);
        near.destroy();
        far.destroy();
      });
    }
    join(near, far);
  });
  return {
    server,
    close() {
      server.close();
      for (const socket of open) socket.destroy();
    },
  };
}
