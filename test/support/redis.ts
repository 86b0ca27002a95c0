/**
 * A separate Redis for a test, on a Unix socket. A server that a test has stopped is emptied and given to the
 * next test of this process, which takes a millisecond instead of forty. All end with the process.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { healthOf } from '../../src/redis/embedded/server.ts';
import { memoryFolder } from './in-memory.ts';

export interface TestRedis {
  /** The options for `new Redis(...)` of ioredis; ioredis also accepts `socketPath` instead of a URL. */
  options: { path: string };
  /** In a folder of this test alone, which is deleted with it. */
  socketPath: string;
  /** The folder of the server, with its append-only file. */
  serverDir: string;
  /**
   * SIGKILL, as a crash would, when every acknowledged write is in the append-only file: `everysec` on a slow
   * disk has up to two seconds of them in memory alone, and which of them a test lost would be chance. Resolves
   * when the process has ended; its data is kept for `restart()`.
   */
  kill(): Promise<void>;
  /** Starts it again on its data, after a kill or without one. */
  restart(): Promise<void>;
  /** Deletes its data. Nothing can connect to `socketPath` afterwards. */
  stop(): Promise<void>;
}

interface Server {
  dir: string;
  process: ChildProcess;
  /** How many tests have used it. */
  uses: number;
}

type Appendfsync = 'everysec' | 'always';

/** Running servers that no test uses. */
const idle: Server[] = [];
const MAX_IDLE = 3;

/**
 * An empty Redis with an append-only file. With `always`, a kill by the test or by the system loses no
 * acknowledged write.
 *
 * @throws when there is no `redis-server` or `valkey-server`, or it does not start; with the server's own
 * message.
 */
export async function startTestRedis({
  appendfsync = 'everysec',
}: {
  appendfsync?: Appendfsync;
} = {}): Promise<TestRedis> {
  const server = (appendfsync === 'everysec' ? idle.pop() : undefined) ?? (await newServer(appendfsync));
  server.uses += 1;
  const folder = join(server.dir, `test-${server.uses}`);
  await mkdir(folder);
  const socketPath = join(folder, 'redis.sock');
  await symlink('../redis.sock', socketPath);
  let isAsStarted = appendfsync === 'everysec';
  let isStopped = false;
  return {
    options: { path: socketPath },
    socketPath,
    serverDir: server.dir,
    async kill() {
      if (isStopped) return;
      isAsStarted = false;
      await writeAll(server);
      await kill(server.process);
    },
    async restart() {
      isAsStarted = false;
      await writeAll(server);
      await kill(server.process);
      server.process = await start(server.dir, appendfsync);
    },
    async stop() {
      // A second call must not end the server that another test uses by then.
      if (isStopped) return;
      isStopped = true;
      await rm(folder, { recursive: true, force: true });
      if (isAsStarted && idle.length < MAX_IDLE && (await canBeUsedAgain(server))) {
        idle.push(server);
        return;
      }
      await kill(server.process);
      await rm(server.dir, { recursive: true, force: true });
    },
  };
}

/** `always` writes what is still in memory before the next answer. A server that is down or hangs has no answer. */
async function writeAll({ dir, process: { exitCode, signalCode } }: Server): Promise<void> {
  if (exitCode !== null || signalCode !== null) return;
  const redis = new Redis({
    path: join(dir, 'redis.sock'),
    enableReadyCheck: false,
    retryStrategy: null,
    commandTimeout: 2_000,
  });
  redis.on('error', () => undefined);
  await redis.config('SET', 'appendfsync', 'always').catch(() => undefined);
  redis.disconnect();
}

async function newServer(appendfsync: Appendfsync): Promise<Server> {
  const dir = await mkdtemp(join(memoryFolder(), 'caretaker-redis-'));
  return { dir, process: await start(dir, appendfsync), uses: 0 };
}

/** A change of the server that `FLUSHALL` does not undo. */
const lasting = /cmdstat_(config\|(set|rewrite)|acl\|(set|del)user|client\|pause|debug|function|replicaof)/;
const MAX_LOG_BYTES = 16_000_000;

/** Empties a server. False when a test has changed its settings, or left a connection open. */
async function canBeUsedAgain(server: Server): Promise<boolean> {
  if (server.process.exitCode !== null || server.process.signalCode !== null) return false;
  const redis = new Redis({
    path: join(server.dir, 'redis.sock'),
    enableReadyCheck: false,
    retryStrategy: null,
  });
  redis.on('error', () => undefined);
  try {
    // A client that was told to disconnect is gone a moment later.
    for (
      let waited = 0;
      Number(/^connected_clients:(\d+)/m.exec(await redis.info('clients'))?.[1]) > 1;
      waited += 5
    ) {
      if (waited >= 50) return false;
      await sleep(5);
    }
    const facts = await redis.info('all');
    const logBytes = Number(/^aof_current_size:(\d+)/m.exec(facts)?.[1]);
    if (lasting.test(facts) || logBytes > MAX_LOG_BYTES) return false;
    await redis.flushall();
    await redis.config('RESETSTAT');
    await redis.call('SLOWLOG', 'RESET');
    return true;
  } catch {
    return false;
  } finally {
    redis.disconnect();
  }
}

/**
 * A shell holds the server and kills it when the shell's standard input ends. The system closes that input
 * when the test process ends in any way, so no test can leave a server running. The data is deleted too,
 * unless it should be kept.
 */
const guard = `
server=$(command -v redis-server || command -v valkey-server) || { echo 'no redis-server on PATH'; exit 1; }
"$server" "$@" &
read -r word
exec 2> /dev/null # nobody may be left to read that the server was killed
kill -9 $!
wait $!
[ "$word" = keep ] || rm -rf "$DATA"
`;

async function start(dir: string, appendfsync: Appendfsync): Promise<ChildProcess> {
  const socketPath = join(dir, 'redis.sock');
  // biome-ignore format: an option and its value stay side by side
  const options = [
    '--port', '0', '--unixsocket', socketPath, '--unixsocketperm', '700', '--dir', dir, '--daemonize', 'no',
    '--appendonly', 'yes', '--appendfsync', appendfsync, '--save', '', '--maxmemory-policy', 'noeviction',
  ];
  return spawnServer(dir, options, async () => (await healthOf(socketPath)) === 'ready');
}

/** Starts a server with these arguments in a folder, which is deleted with it. Resolves when it is up. */
export async function spawnServer(
  dir: string,
  args: readonly string[],
  isUp: () => Promise<boolean>,
): Promise<ChildProcess> {
  // A separate process group, so that Ctrl-C reaches the tests first and the server last.
  const child = spawn('/bin/sh', ['-c', guard, 'redis', ...args], {
    detached: true,
    stdio: 'pipe',
    env: { ...process.env, DATA: dir },
  });
  // A test that forgets to stop it must not keep the test process running.
  child.unref();
  for (const stream of [child.stdin, child.stdout, child.stderr]) (stream as Socket).unref();
  let said = '';
  child.stdout.on('data', (text) => {
    said = `${said}${text}`.slice(-2_000);
  });
  for (let waited = 0; !(await isUp()); waited += 5) {
    if (child.exitCode !== null || waited > 10_000) {
      child.stdin?.end();
      throw new Error(`The test's Redis did not come up. It said:\n${said}`);
    }
    await sleep(5);
  }
  return child;
}

export async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.ref();
  child.stdin?.end('keep\n');
  await once(child, 'exit');
}
