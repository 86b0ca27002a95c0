/**
 * Checks whether a server uses TLS, after a connection failed: with the wrong protocol, neither side reports
 * the cause.
 */
import { connect as connectPlain, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { NO_TLS, ONLY_TLS } from './refusal.ts';

const PROBE_TIMEOUT_MS = 1_000;

/** Explains a wrong protocol in a URL, if that is why the server cannot be reached. */
export async function wrongProtocol(url: string): Promise<string | undefined> {
  if (!URL.canParse(url)) return undefined;
  const { protocol, hostname, port } = new URL(url);
  if (hostname === '') return undefined;
  const at = { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || 6379) };
  if (protocol === 'redis:') {
    // Nothing is sent, so it does not matter whether the certificate can be trusted.
    const hello = connectTls({ ...at, rejectUnauthorized: false });
    return (await received(hello, 'secureConnect')) === undefined ? undefined : ONLY_TLS;
  }
  if (protocol !== 'rediss:') return undefined;
  const socket = connectPlain(at, () => socket.write('PING\r\n'));
  return /^[+-]/.test((await received(socket, 'data')) ?? '') ? NO_TLS : undefined;
}

/** The data of the event as text; undefined when the event does not occur. */
function received(socket: Socket, event: 'secureConnect' | 'data'): Promise<string | undefined> {
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
