import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Redis } from 'ioredis';
import { expect, test, vi } from 'vitest';
import { healthOf } from '../../src/redis/embedded/server.ts';
import { startTestRedis } from './redis.ts';

test('a test Redis that is killed restarts with its data', async () => {
  const server = await startTestRedis();
  const client = new Redis(server.options);
  await client.set('kept', 'yes');

  await server.kill();
  expect(await healthOf(server.socketPath)).toBe('down');
  await server.restart();

  expect(await client.get('kept')).toBe('yes');
  client.disconnect();
  await server.stop();
});

/** The process id of the server of a test that does this with it. */
async function serverOf(use: (client: Redis) => Promise<unknown>): Promise<string | undefined> {
  const server = await startTestRedis();
  const client = new Redis(server.options);
  const id = /^process_id:(\d+)/m.exec(await client.info('server'))?.[1];
  await use(client);
  client.disconnect();
  await server.stop();
  expect(await healthOf(server.socketPath)).toBe('down');
  return id;
}

test('a test Redis is used again, emptied', async () => {
  const first = await serverOf((client) => client.set('left', 'behind'));
  const look = async (client: Redis) => expect(await client.keys('*')).toEqual([]);
  expect(await serverOf(look)).toBe(first);
  expect(await serverOf(look)).toBe(first);
});

test('a test Redis is not used again after its settings were changed, or with a connection left open', async () => {
  const changed = await serverOf((client) => client.config('SET', 'maxmemory', '1gb'));
  let left: Redis | undefined;
  const connected = await serverOf(async (client) => {
    left = client.duplicate({ retryStrategy: null });
    left.on('error', () => undefined);
    await left.ping();
  });
  expect(connected).not.toBe(changed);
  expect(await serverOf(async () => undefined)).not.toBe(connected);
  left?.disconnect();
});

test('a test Redis ends with a test process that is killed', async () => {
  const files = ['./call.mjs', './redis.ts'].map((file) => fileURLToPath(new URL(file, import.meta.url)));
  const tester = spawn(process.execPath, [...files, 'startTestRedis'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const [line] = (await once(tester.stdout.setEncoding('utf8'), 'data')) as [string];
  const { socketPath } = JSON.parse(line) as { socketPath: string };
  expect(await healthOf(socketPath)).toBe('ready');

  tester.kill('SIGKILL');

  await vi.waitFor(async () => expect(await healthOf(socketPath)).toBe('down'), { timeout: 5_000 });
});
