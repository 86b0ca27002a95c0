import { mkdir, readdir, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Redis } from 'ioredis';
import { expect, test, vi } from 'vitest';
import { healthOf } from '../../../src/redis/embedded/server.ts';
import { sampleOf } from '../../support/sample.ts';
import { connect, newFolder, open, openInProcess, undoAfterEach } from './users.ts';

undoAfterEach();

async function pidOf(client: Redis): Promise<number> {
  return Number(/^process_id:(\d+)/m.exec(await client.info('server'))?.[1]);
}

test('the first user starts a private server, and finds its data again the next time', async () => {
  const dataDir = await newFolder();
  const first = await open(dataDir);
  await connect(first).set('kept', 'yes');

  expect(first.started).toBe(true);
  expect((await stat(dataDir)).mode & 0o777).toBe(0o700);
  await Promise.all([first.close(), first.close()]);
  expect(await healthOf(first.socketPath)).toBe('down');

  const second = await open(dataDir);
  expect(second.started).toBe(true);
  expect(await connect(second).get('kept')).toBe('yes');
});

test('the server keeps every write on disk and never evicts', async () => {
  const client = connect(await open(await newFolder()));

  expect(await client.config('GET', 'appendonly')).toEqual(['appendonly', 'yes']);
  expect(await client.config('GET', 'maxmemory-policy')).toEqual(['maxmemory-policy', 'noeviction']);
  expect(await client.config('GET', 'port')).toEqual(['port', '0']);
});

test('two processes share one server, and the last of them stops it', async () => {
  const dataDir = await newFolder();
  const mine = await open(dataDir);
  const other = await openInProcess(dataDir);

  expect(other).toMatchObject({ socketPath: mine.socketPath, started: false });
  await mine.close();
  expect(await healthOf(other.socketPath)).toBe('ready');
  await other.close();
  expect(await healthOf(other.socketPath)).toBe('down');
});

test('a user that was killed does not keep the server running', async () => {
  const dataDir = await newFolder();
  const mine = await open(dataDir);
  const other = await openInProcess(dataDir);

  await other.kill();
  await mine.close();

  expect(await healthOf(mine.socketPath)).toBe('down');
});

test('many users that start at the same instant make one server', async () => {
  const dataDir = await newFolder();

  const users = await Promise.all([
    ...Array.from({ length: sampleOf(1, 4) }, () => openInProcess(dataDir)),
    ...Array.from({ length: 8 }, () => open(dataDir)),
  ]);

  expect(users.filter((user) => user.started)).toHaveLength(1);
  expect(new Set(await Promise.all(users.map((user) => pidOf(connect(user))))).size).toBe(1);
});

test('a server that is killed while in use is restarted with its data', async () => {
  const dataDir = await newFolder();
  const client = connect(await open(dataDir));
  await openInProcess(dataDir);
  await client.set('kept', 'yes');
  const pid = await pidOf(client);

  process.kill(pid, 'SIGKILL');

  expect(await client.get('kept')).toBe('yes');
  expect(await pidOf(client)).not.toBe(pid);
});

test('an append-only file that was truncated during a write is read up to there', async () => {
  const dataDir = await newFolder();
  const first = await open(dataDir);
  const client = connect(first);
  await client.set('kept', 'yes');
  await client.set('lost', 'a write that the power failed in');
  await first.close();
  const files = await readdir(join(dataDir, 'redis/appendonlydir'));
  const file = join(dataDir, 'redis/appendonlydir', files.find((name) => name.includes('.incr.')) ?? '');
  await truncate(file, (await stat(file)).size - 7);

  const second = connect(await open(dataDir));

  expect(await second.mget('kept', 'lost')).toEqual(['yes', null]);
});

test.runIf(sampleOf(false, true))(
  'a server whose socket was deleted is replaced by one that can be reached',
  async () => {
    const dataDir = await newFolder();
    const redis = await open(dataDir);
    await connect(redis).set('kept', 'yes');

    await rm(redis.socketPath);

    await vi.waitFor(async () => expect(await healthOf(redis.socketPath)).toBe('ready'), { timeout: 10_000 });
    expect(await connect(redis).get('kept')).toBe('yes');
  },
);

test('without a Redis on the machine the error shows how to install it, and the alternative', async () => {
  vi.stubEnv('PATH', '');
  await expect(open(await newFolder())).rejects.toMatchObject({
    code: 'REDIS_MISSING',
    message: expect.stringMatching(/^There is no redis-server .* or set REDIS_URL to a Redis of yours\.$/),
  });
});

test('a data folder that cannot be created is reported in one sentence', async () => {
  const dataDir = await newFolder();
  await writeFile(dataDir, 'a file is in the way');

  await expect(open(dataDir)).rejects.toMatchObject({
    code: 'DATA_FOLDER_UNUSABLE',
    message: expect.stringContaining(`The data folder ${dataDir} cannot be created`),
  });
});

test('unreadable data is an error with the message of the server', async () => {
  const dataDir = await newFolder();
  await mkdir(join(dataDir, 'redis/appendonlydir'), { recursive: true });
  await writeFile(join(dataDir, 'redis/appendonlydir/appendonly.aof.manifest'), 'scribble\n');

  await expect(open(dataDir)).rejects.toMatchObject({
    code: 'REDIS_NOT_STARTED',
    message: expect.stringMatching(/Invalid AOF manifest file format|scribble/),
  });
});
