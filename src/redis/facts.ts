/** What a Redis server reports about itself. */
import { connect as connectPlain, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { Cluster, Redis } from 'ioredis';
import { NO_TLS, ONLY_TLS } from './refusal.ts';
import type { Store } from './store.ts';

/** A server; of a Cluster each master. Facts that a managed Redis does not report are missing. */
export interface RedisFacts {
  version?: string;
  usedBytes?: number;
  /** 0: no limit. */
  maxBytes?: number;
  /** What it does when the limit is reached: `noeviction`. */
  maxmemoryPolicy?: string;
  /** The append-only file. */
  aof?: { isOn: boolean; isWritten: boolean };
  /** The last snapshot in a file. */
  snapshot?: { at: number; isWritten: boolean; changesSince: number };
  /** How long a command and its answer took. */
  latencyMs: number;
}

/** The facts of every server, with the text of its `INFO` that they are from. */
export async function readFacts(store: Store): Promise<{ info: string; facts: RedisFacts }[]> {
  const nodes = store.isCluster ? (store as Cluster).nodes('master') : [store as Redis];
  return Promise.all(
    nodes.map(async (node) => {
      const before = performance.now();
      await node.ping();
      const latencyMs = performance.now() - before;
      const info = await node.info().catch(() => '');
      return { info, facts: { ...factsIn(info), latencyMs } };
    }),
  );
}

/** One value of an `INFO`. */
export const factIn = (info: string, name: string): string | undefined =>
  new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1];

function factsIn(info: string): Omit<RedisFacts, 'latencyMs'> {
  const text = (name: string) => factIn(info, name) || undefined;
  const count = (name: string) => (text(name) === undefined ? undefined : Number(text(name)));
  const isOk = (name: string) => text(name) !== 'err';
  const savedAt = count('rdb_last_save_time');
  const aof = text('aof_enabled');
  const facts = {
    version: text('redis_version'),
    usedBytes: count('used_memory'),
    maxBytes: count('maxmemory'),
    maxmemoryPolicy: text('maxmemory_policy'),
    aof: aof && { isOn: aof === '1', isWritten: isOk('aof_last_write_status') },
    snapshot:
      savedAt === undefined
        ? undefined
        : {
            at: savedAt * 1_000,
            isWritten: isOk('rdb_last_bgsave_status'),
            changesSince: count('rdb_changes_since_last_save') ?? 0,
          },
  };
  return Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined));
}

// Checks whether a server uses TLS, after a connection failed: with the wrong protocol, neither side reports
// the cause.

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
