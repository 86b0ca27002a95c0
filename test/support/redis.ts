/**
 * A separate Redis for a test file: in a temporary folder, on a Unix socket. It ends with the test process.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { healthOf } from '../../src/redis/embedded/command.ts';

export interface TestRedis {
  /** The options for `new Redis(...)` of ioredis; ioredis also accepts `socketPath` instead of a URL. */
  options: { path: string };
  socketPath: string;
  /** SIGKILL, as a crash would. Resolves when the process has ended; its data is kept for `restart()`. */
  kill(): Promise<void>;
  /** Starts it again on its data, after a kill or without one. */
  restart(): Promise<void>;
  /** Stops it and deletes its data. */
  stop(): Promise<void>;
}

/**
 * Starts a Redis with an append-only file in about 40 ms. With `always`, a kill loses no acknowledged write.
 *
 * @throws when there is no `redis-server` or `valkey-server`, or it does not start; with the server's own
 * message.
 */
export async function startTestRedis({
  appendfsync = 'everysec',
}: {
  appendfsync?: 'everysec' | 'always';
} = {}): Promise<TestRedis> {
  const dir = await mkdtemp(join(tmpdir(), 'caretaker-redis-'));
  const socketPath = join(dir, 'redis.sock');
  let server = await start(dir, socketPath, appendfsync);
  return {
    options: { path: socketPath },
    socketPath,
    kill: () => kill(server),
    async restart() {
      await kill(server);
      server = await start(dir, socketPath, appendfsync);
    },
    async stop() {
      await kill(server);
      await rm(dir, { recursive: true, force: true });
    },
  };
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

async function start(dir: string, socketPath: string, appendfsync: string): Promise<ChildProcess> {
  // biome-ignore format: an option and its value stay side by side
  const options = [
    '--port', '0', '--unixsocket', socketPath, '--unixsocketperm', '700', '--dir', dir, '--daemonize', 'no',
    '--appendonly', 'yes', '--appendfsync', appendfsync, '--save', '', '--maxmemory-policy', 'noeviction',
  ];
  // A separate process group, so that Ctrl-C reaches the tests first and the server last.
  const child = spawn('/bin/sh', ['-c', guard, 'redis', ...options], {
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
  for (let waited = 0; (await healthOf(socketPath)) !== 'ready'; waited += 5) {
    if (child.exitCode !== null || waited > 10_000) {
      child.stdin?.end();
      throw new Error(`The test's Redis did not come up. It said:\n${said}`);
    }
    await sleep(5);
  }
  return child;
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.ref();
  child.stdin?.end('keep\n');
  await once(child, 'exit');
}
