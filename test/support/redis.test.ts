import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Redis } from 'ioredis';
import { expect, test, vi } from 'vitest';
import { healthOf } from '../../src/redis/embedded/command.ts';
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
