import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { watchServer } from '../../../src/redis/embedded/watch.ts';
import { keptLog } from '../../support/quiet.ts';

test('an unusable data folder without a server is logged in one sentence, without a stack', async () => {
  const log = keptLog();
  const inTheWay = '/dev/null/redis';
  const watch = watchServer(
    {
      dir: inTheWay,
      socketPath: `${inTheWay}/redis.sock`,
      pidFile: `${inTheWay}/redis.pid`,
      logFile: `${inTheWay}/redis.log`,
      users: `${inTheWay}/users`,
      lock: `${inTheWay}/lock`,
    },
    log,
  );
  await expect.poll(() => log.lines, { timeout: 5_000 }).toHaveLength(1);
  await watch.stop();
  expect(log.lines[0]).toMatch(/^error The data folder \/dev\/null .*its path contains a file/);
  expect(log.lines[0]).not.toContain('stack');
});

test('a server that runs is asked every five seconds, and its end is noticed by a connection that is held', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'caretaker-watch-'));
  const socketPath = join(dir, 'redis.sock');
  const asked: string[] = [];
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (text) => {
      asked.push(String(text).trim());
      socket.write('+PONG\r\n');
    });
  });
  await new Promise<void>((done) => server.listen(socketPath, done));
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] });
  const folder = { dir, socketPath, pidFile: '', logFile: '', users: '', lock: join(dir, 'lock') };
  const connections = () => new Promise<number>((done) => server.getConnections((_, count) => done(count)));
  const held = async () => {
    while ((await connections()) === 0) await new Promise(setImmediate);
  };

  const watch = watchServer(folder, keptLog());
  for (let round = 1; round <= 12; round += 1) {
    await held();
    expect(asked).toHaveLength(round - 1);
    expect(vi.getTimerCount()).toBe(1);
    vi.advanceTimersByTime(5_000);
    while (asked.length < round || vi.getTimerCount() !== 1) await new Promise(setImmediate);
  }
  expect(new Set(asked)).toEqual(new Set(['PING']));

  vi.useRealTimers();
  await watch.stop();
  server.close();
  await rm(dir, { recursive: true });
});
