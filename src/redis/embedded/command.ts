/**
 * Sends one command to a Redis on a Unix socket, without a client library.
 *
 * Starting, watching and stopping the server needs answers before a client can connect (it could be loading),
 * and a client's automatic reconnection would interfere.
 */
import { connect } from 'node:net';

/** The state of a server by its answer to a ping. */
export type Health = 'ready' | 'loading' | 'down';

/**
 * Sends one command and resolves with the first line of the answer, or undefined without an answer in time.
 * Never rejects.
 */
export function askServer(
  socketPath: string,
  command: string,
  timeoutMs = 1_000,
): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = connect(socketPath);
    let received = '';
    const finish = (answer: string | undefined) => {
      clearTimeout(timer);
      socket.destroy();
      resolve(answer);
    };
    const timer = setTimeout(finish, timeoutMs, undefined);
    socket.setEncoding('utf8');
    socket.on('connect', () => socket.write(`${command}\r\n`));
    socket.on('data', (text: string) => {
      received += text;
      const end = received.indexOf('\r\n');
      if (end >= 0) finish(received.slice(0, end));
    });
    socket.on('error', () => finish(undefined));
    socket.on('close', () => finish(undefined));
  });
}

/** Checks the server at `socketPath`. A server that does not answer within `timeoutMs` counts as down. */
export async function healthOf(socketPath: string, timeoutMs = 1_000): Promise<Health> {
  const answer = await askServer(socketPath, 'PING', timeoutMs);
  if (answer === undefined) return 'down';
  // Any other error (memory full, disk full) comes from a running server, and its clients get it too.
  return answer.startsWith('-LOADING') ? 'loading' : 'ready';
}
