/**
 * One question to a Redis on a Unix socket, without a client.
 *
 * Whoever starts, watches and stops the server asks before a client may connect (it could be loading), and a
 * client's own reconnecting would only be in the way.
 */
import { connect } from 'node:net';

/** How a server answers a ping: it serves, it still reads its data, or nobody is there. */
export type Health = 'ready' | 'loading' | 'down';

/**
 * Sends one command and resolves with the first line of the answer; with nothing when nobody answers, or not
 * in time. It never rejects.
 */
export function askServer(
  socketPath: string,
  command: string,
  timeoutMs = 1_000,
): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = connect(socketPath);
    let heard = '';
    const finish = (answer: string | undefined) => {
      clearTimeout(timer);
      socket.destroy();
      resolve(answer);
    };
    const timer = setTimeout(finish, timeoutMs, undefined);
    socket.setEncoding('utf8');
    socket.on('connect', () => socket.write(`${command}\r\n`));
    socket.on('data', (text: string) => {
      heard += text;
      const end = heard.indexOf('\r\n');
      if (end >= 0) finish(heard.slice(0, end));
    });
    socket.on('error', () => finish(undefined));
    socket.on('close', () => finish(undefined));
  });
}

/** Asks the server at `socketPath` how it is. A server that hangs for `timeoutMs` counts as down. */
export async function healthOf(socketPath: string, timeoutMs = 1_000): Promise<Health> {
  const answer = await askServer(socketPath, 'PING', timeoutMs);
  if (answer === undefined) return 'down';
  // Any other answer (memory full, disk full) comes from a server that is there and will say so to its
  // clients.
  return answer.startsWith('-LOADING') ? 'loading' : 'ready';
}
