/**
 * The address under which processes reach Redis, as that of a proxy or of a managed Redis: there is a standby behind it
 * that takes over, and its open connections may fall silent.
 */
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import type { TestRedis } from '../support/redis.ts';
import { freePort } from '../support/redis-group.ts';
import { openRelay } from '../support/relay.ts';

/** For so long is a failover tried: the standby may have to copy everything first. */
const COPYING_MS = 20_000;

export interface Line {
  /** The socket of the address. */
  path: string;
  /** SIGKILL of the primary, once a crash loses no acknowledged write. */
  kill(): Promise<void>;
  /** Restarts the primary. */
  restart(): Promise<void>;
  /**
   * The standby takes over without losing a write, and the old primary becomes the standby. Open connections stay with
   * it. False when the standby was not ready.
   */
  failOver(): Promise<boolean>;
  /** On half of the open connections nothing arrives any more, in either direction, and they stay open. */
  silence(random: () => number): void;
  stop(): Promise<void>;
}

export async function openLine(first: TestRedis, second: TestRedis): Promise<Line> {
  let [primary, standby] = [first, second];
  const ports = new Map([
    [first, await freePort()],
    [second, await freePort()],
  ]);
  const path = `${first.serverDir}/line.sock`;
  /** Silences one open connection. */
  const silencers = new Set<() => void>();
  const { server, close } = openRelay(
    () => primary.socketPath,
    (near, far) => {
      let isSilent = false;
      const silence = () => {
        isSilent = true;
      };
      near.on('data', (bytes) => isSilent || far.write(bytes));
      far.on('data', (bytes) => isSilent || near.write(bytes));
      silencers.add(silence);
      near.on('close', () => silencers.delete(silence));
    },
  );
  server.listen(path);
  await once(server, 'listening');

  const send = async (to: TestRedis, command: string, ...args: (string | number)[]): Promise<unknown> => {
    const connection = new Redis({ ...to.options, retryStrategy: null });
    connection.on('error', () => undefined);
    return connection.call(command, ...args).finally(() => connection.disconnect());
  };
  const infoOf = async (server: TestRedis) => String(await send(server, 'INFO', 'persistence'));
  const portOf = (server: TestRedis) => ports.get(server) ?? 0;
  /** What a server forgets when it is killed. */
  const pair = async () => {
    for (const one of [primary, standby]) await send(one, 'CONFIG', 'SET', 'port', portOf(one));
    await send(standby, 'REPLICAOF', '127.0.0.1', portOf(primary));
  };
  await pair();
  return {
    path,
    async kill() {
      // A server that has copied the other's data has no file of it until it is rewritten.
      while (!/^aof_rewrite_in_progress:0\r\naof_rewrite_scheduled:0/m.test(await infoOf(primary)))
        await sleep(20);
      await primary.kill();
    },
    async restart() {
      await primary.restart();
      await pair();
    },
    async failOver() {
      const begun = Date.now();
      const isLate = () => Date.now() - begun > COPYING_MS;
      const attempt = () => send(primary, 'FAILOVER', 'TO', '127.0.0.1', portOf(standby));
      while (!(await attempt().catch(() => false))) {
        if (isLate()) return false;
        await sleep(50);
      }
      for (;;) {
        const [role] = (await send(standby, 'ROLE')) as string[];
        if (role === 'master') break;
        await sleep(10);
      }
      [primary, standby] = [standby, primary];
      return true;
    },
    silence(random) {
      for (const one of silencers) if (random() < 0.5) one();
    },
    async stop() {
      close();
      await second.stop();
    },
  };
}
