/**
 * Whether a server speaks TLS, asked where a connection came to nothing: neither side of a mixed-up protocol
 * says so.
 */
import { connect as connectPlain, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { NO_TLS, ONLY_TLS } from './refusal.ts';

const PROBE_TIMEOUT_MS = 1_000;

/** What is wrong with the protocol of a URL, if that is what keeps it from being reached. */
export async function wrongProtocol(url: string): Promise<string | undefined> {
  if (!URL.canParse(url)) return undefined;
  const { protocol, hostname, port } = new URL(url);
  if (hostname === '') return undefined;
  const at = { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || 6379) };
  if (protocol === 'redis:') {
    // Nothing is sent over it: whether the certificate is to be trusted does not matter.
    const hello = connectTls({ ...at, rejectUnauthorized: false });
    return (await heard(hello, 'secureConnect')) === undefined ? undefined : ONLY_TLS;
  }
  if (protocol !== 'rediss:') return undefined;
  const socket = connectPlain(at, () => socket.write('PING\r\n'));
  return /^[+-]/.test((await heard(socket, 'data')) ?? '') ? NO_TLS : undefined;
}

/** What comes with the event, as text; nothing when it does not come. */
function heard(socket: Socket, event: 'secureConnect' | 'data'): Promise<string | undefined> {
  return new Promise((resolve) => {
    const end = (found: string | undefined) => {
      socket.destroy();
      resolve(found);
    };
    socket.setTimeout(PROBE_TIMEOUT_MS, () => end(undefined));
    socket.once('error', () => end(undefined));
    socket.once('close', () => end(undefined));
    socket.once(event, (data?: Buffer) => end(data?.toString('latin1') ?? ''));
  });
}
