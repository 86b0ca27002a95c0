/** Servers that are reached as a group: a primary with its Sentinel, or a Cluster of one node. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CERTIFICATE, CERTIFICATE_KEY } from './certificate.ts';
import { kill, spawnServer } from './redis.ts';

export const PASSWORD = 'password-of-servers';
export const SENTINEL_PASSWORD = 'password-of-sentinels';

export interface RedisGroup {
  /** Of the primary or node, and of its Sentinel. */
  port: number;
  sentinelPort: number;
  /** A file with the authority of the certificate, for `NODE_EXTRA_CA_CERTS`. */
  authority: string;
  stop(): Promise<void>;
}

/**
 * Its user is `agency`, at the Sentinel `watcher`. The name of the group is `main`.
 */
export async function startRedisGroup({
  kind,
  tls = false,
}: {
  kind: 'sentinel' | 'cluster';
  tls?: boolean;
}): Promise<RedisGroup> {
  const dir = mkdtempSync(join(tmpdir(), 'caretaker-redis-group-'));
  const file = (name: string, text: string) => {
    const path = join(dir, name);
    writeFileSync(path, text);
    return path;
  };
  const authority = file('certificate.pem', CERTIFICATE);
  const secure = [
    `tls-cert-file ${authority}`,
    `tls-key-file ${file('key.pem', CERTIFICATE_KEY)}`,
    `tls-ca-cert-file ${authority}`,
    'tls-auth-clients no',
    'tls-replication yes',
    'tls-cluster yes',
  ];
  const [port, sentinelPort] = [await freePort(), await freePort()];
  const listening = (at: number) => (tls ? ['port 0', `tls-port ${at}`, ...secure] : [`port ${at}`]);
  const servers: ChildProcess[] = [];
  const start = async (name: string, at: number, lines: readonly string[], ...args: string[]) => {
    const head = ['bind 127.0.0.1', `dir ${dir}`, ...listening(at)];
    const config = file(name, [...head, ...lines, ''].join('\n'));
    servers.push(await spawnServer(dir, [config, ...args], () => isOpen(at)));
  };
  const cluster = ['cluster-enabled yes', `cluster-config-file ${join(dir, 'nodes.conf')}`];
  await start('primary.conf', port, [
    'save ""',
    ...(kind === 'cluster' ? [...cluster, 'cluster-announce-ip 127.0.0.1'] : []),
    `user agency on >${PASSWORD} ~* &* +@all`,
    'user default off',
  ]);
  if (kind === 'sentinel')
    await start(
      'sentinel.conf',
      sentinelPort,
      [
        `sentinel monitor main 127.0.0.1 ${port} 1`,
        'sentinel auth-user main agency',
        `sentinel auth-pass main ${PASSWORD}`,
        `user watcher on >${SENTINEL_PASSWORD} ~* &* +@all`,
        'user default off',
      ],
      '--sentinel',
    );
  return {
    ...{ port, sentinelPort, authority },
    async stop() {
      await Promise.all(servers.map(kill));
      await rm(dir, { recursive: true, force: true });
    },
  };
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

const isOpen = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('connect', () => resolve(true));
    socket.on('error', () => resolve(false));
    socket.on('connect', () => socket.destroy());
  });
