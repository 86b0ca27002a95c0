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

test('a server that runs is asked every five seconds', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'caretaker-watch-'));
  const socketPath = join(dir, 'redis.sock');
  const asked: string[] = [];
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    socket.on('error', () => undefined);
    socket.on('data', (text) => {
      asked.push(String(text).trim());
      socket.write('+PONG\r\n');
    });
  });
  await new Promise<void>((done) => server.listen(socketPath, done));
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] });
  let rests = 0;
  const timed = globalThis.setTimeout;
  globalThis.setTimeout = ((act: () => void, ms: number) => {
    if (ms === 5_000) rests += 1;
    return timed(act, ms);
  }) as typeof setTimeout;
  const folder = { dir, socketPath, pidFile: '', logFile: '', users: '', lock: join(dir, 'lock') };
  const until = async (holds: () => boolean) => {
    while (!holds()) await new Promise(setImmediate);
  };

  const watch = watchServer(folder, keptLog());
  for (let round = 1; round <= 12; round += 1) {
    // One that is held, and one for each question before.
    await until(() => connections === 2 * round - 1 && rests >= round);
    expect(asked).toHaveLength(round - 1);
    vi.advanceTimersByTime(5_000);
  }
  expect(new Set(asked)).toEqual(new Set(['PING']));

  await watch.stop();
  // Only the function that was faked is replaced by the real one.
  globalThis.setTimeout = timed;
  vi.useRealTimers();
  server.close();
  await rm(dir, { recursive: true });
});
