import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Redis } from 'ioredis';
import { afterEach, expect, test, vi } from 'vitest';
import type { Log } from '../../../src/log.ts';
import { healthOf } from '../../../src/redis/embedded/command.ts';
import { type EmbeddedRedis, openEmbeddedRedis } from '../../../src/redis/embedded/embedded.ts';

const log: Log = { debug() {}, info() {}, warn: vi.fn(), error: vi.fn(), child: () => log };

/** Run in reverse order after each test, so that servers stop before their folders are deleted. */
const undo: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
  vi.unstubAllEnvs();
  vi.clearAllMocks();
});

async function newFolder(name = 'data'): Promise<string> {
  const parent = await mkdtemp(join(tmpdir(), 'caretaker-embedded-'));
  undo.push(() => rm(parent, { recursive: true, force: true }));
  return join(parent, name);
}

async function open(dataDir: string): Promise<EmbeddedRedis> {
  const redis = await openEmbeddedRedis({ dataDir, log });
  undo.push(() => redis.close());
  return redis;
}

/** A user of the folder in a separate process. It ends when it is killed, and closes on request. */
async function openInProcess(dataDir: string) {
  const files = ['../../support/call.mjs', './embedded.user.ts'].map((file) =>
    fileURLToPath(new URL(file, import.meta.url)),
  );
  const child = spawn(process.execPath, [...files, 'use', dataDir], { stdio: ['pipe', 'pipe', 'inherit'] });
  undo.push(() => end(child, 'SIGTERM'));
  const [line] = (await once(child.stdout.setEncoding('utf8'), 'data')) as [string];
  const redis = JSON.parse(line) as Pick<EmbeddedRedis, 'socketPath' | 'started'>;
  return { ...redis, kill: () => end(child, 'SIGKILL'), close: () => end(child, 'SIGTERM') };
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill(signal);
  await once(child, 'exit');
}

function connect({ socketPath }: { socketPath: string }): Redis {
  const client = new Redis({ path: socketPath, maxRetriesPerRequest: null, retryStrategy: () => 20 });
  client.on('error', () => {});
  undo.push(async () => client.disconnect());
  return client;
}

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

test('a server left behind by a killed process is found and used', async () => {
  const dataDir = await newFolder();
  const other = await openInProcess(dataDir);
  expect(other.started).toBe(true);
  await other.kill();
  expect(await healthOf(other.socketPath)).toBe('ready');

  const mine = await open(dataDir);

  expect(mine).toMatchObject({ socketPath: other.socketPath, started: false });
});

test('many users that start at the same instant make one server', async () => {
  const dataDir = await newFolder();

  const users = await Promise.all([
    ...Array.from({ length: 4 }, () => openInProcess(dataDir)),
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

test('a folder whose path is too long for a socket can still be shared', async () => {
  const dataDir = await newFolder('a-folder-with-a-long-name-'.repeat(6));
  const mine = await open(dataDir);
  vi.stubEnv('TMPDIR', '/var/tmp');
  const other = await openInProcess(dataDir);

  expect(other).toMatchObject({ socketPath: mine.socketPath, started: false });
  expect(Buffer.byteLength(mine.socketPath)).toBeLessThan(104);
});

test('a server whose socket was deleted is replaced by one that can be reached', async () => {
  const dataDir = await newFolder();
  const redis = await open(dataDir);
  await connect(redis).set('kept', 'yes');

  await rm(redis.socketPath);

  await vi.waitFor(async () => expect(await healthOf(redis.socketPath)).toBe('ready'), { timeout: 10_000 });
  expect(await connect(redis).get('kept')).toBe('yes');
});

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

test('a server whose users were all killed stops by itself, and its data is kept', async () => {
  const dataDir = await newFolder('a-folder-with-a-long-name-'.repeat(6));
  const killed = [await openInProcess(dataDir), await openInProcess(dataDir)];
  const client = connect({ socketPath: killed[0]?.socketPath ?? '' });
  await client.set('kept', 'yes');
  client.disconnect();

  for (const user of killed) await user.kill();

  const socketPath = killed[0]?.socketPath ?? '';
  await vi.waitFor(async () => expect(await healthOf(socketPath)).toBe('down'), {
    timeout: 60_000,
    interval: 200,
  });
  // Its socket was among the system's temporary files, and that folder is deleted too.
  await vi.waitFor(() => expect(existsSync(dirname(socketPath))).toBe(false), {
    timeout: 20_000,
    interval: 200,
  });
  const again = await open(dataDir);
  expect(again.started).toBe(true);
  expect(await connect(again).get('kept')).toBe('yes');
  await again.close();
  expect(existsSync(dirname(socketPath))).toBe(false);
});
