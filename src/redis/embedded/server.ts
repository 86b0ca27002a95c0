/** Starts and stops the server of a folder. All of this happens under the folder's lock. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { open, readFile, rename, rmdir, stat } from 'node:fs/promises';
import { connect } from 'node:net';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CaretakerError } from '../../errors.ts';
import { findServerBinary } from './binary.ts';
import { fullDisk, makePrivate, type RedisFolder } from './folder.ts';
import { commandOf } from './processes.ts';

// Sends one command to a Redis on a Unix socket, without a client library.
//
// Starting, watching and stopping the server needs answers before a client can connect (it could be loading),
// and a client's automatic reconnection would interfere.

/** The state of a server by its answer to a ping. */
export type Health = 'ready' | 'loading' | 'down';

/**
 * Sends one command and resolves with the first line of the answer, or undefined without an answer in time.
 * Never rejects.
 */
export function askServer(
  socketPath: string,
  command: string,
  timeoutMs = 1_000,
): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = connect(socketPath);
    let received = '';
    const finish = (answer: string | undefined) => {
      clearTimeout(timer);
      socket.destroy();
      resolve(answer);
    };
    const timer = setTimeout(finish, timeoutMs, undefined);
    socket.setEncoding('utf8');
    socket.on('connect', () => socket.write(`${command}\r\n`));
    socket.on('data', (text: string) => {
      received += text;
      const end = received.indexOf('\r\n');
      if (end >= 0) finish(received.slice(0, end));
    });
    socket.on('error', () => finish(undefined));
    socket.on('close', () => finish(undefined));
  });
}

/** Checks the server at `socketPath`. A server that does not answer within `timeoutMs` counts as down. */
export async function healthOf(socketPath: string, timeoutMs = 1_000): Promise<Health> {
  const answer = await askServer(socketPath, 'PING', timeoutMs);
  if (answer === undefined) return 'down';
  // Any other error (memory full, disk full) comes from a running server, and its clients get it too.
  return answer.startsWith('-LOADING') ? 'loading' : 'ready';
}

// Stops a server whose users were all killed, when no other process is left to do it.
//
// A small separate shell process checks the users of the folder, and exits with the server. It may miss a
// user that is just joining. Then the server is gone for a moment, and that user's own watch restarts it with
// its data.

/** The number of consecutive checks without a user; with the pause, some six seconds. */
const script = `
alone=0
while kill -0 "$1" 2>/dev/null; do
  sleep 2
  used=
  for note in "$3"/*; do
    note=\${note##*/}
    if kill -0 "\${note%%-*}" 2>/dev/null; then used=yes; break; fi
  done
  if [ "$used" ]; then alone=0; continue; fi
  alone=$((alone + 1))
  [ "$alone" -lt 3 ] && continue
  if [ ! -e "$2" ] || [ "$(cat "$2")" = "$1" ]; then kill "$1" 2>/dev/null; fi
  while kill -0 "$1" 2>/dev/null; do sleep 1; done
  [ "$4" ] && rmdir "$4"
  exit
done`;

/** Makes the server with this process id stop some seconds after the last of its users was killed. */
export function stopWithoutUsers({ dir, pidFile, users, socketPath }: RedisFolder, serverPid: number): void {
  const elsewhere = dirname(socketPath) === dir ? '' : dirname(socketPath);
  const shell = spawn(
    '/bin/sh',
    ['-c', script, 'caretaker-redis', String(serverPid), pidFile, users, elsewhere],
    {
      cwd: '/',
      detached: true,
      stdio: 'ignore',
      env: { PATH: process.env['PATH'] },
    },
  );
  // Without it the server keeps running until the next user comes, which is no reason to fail.
  shell.on('error', () => {});
  shell.unref();
}

/** Checks the condition every `everyMs` until it holds. Returns whether it did within `limitMs`. */
export async function until(
  holds: () => Promise<boolean>,
  { everyMs, limitMs }: { everyMs: number; limitMs: number },
): Promise<boolean> {
  const deadline = performance.now() + limitMs;
  while (!(await holds())) {
    if (performance.now() >= deadline) return false;
    await sleep(everyMs);
  }
  return true;
}

/** How long a server may take until it answers at all. "Loading" is an answer. */
const ANSWER_TIMEOUT_MS = 30_000;
const STOP_TIMEOUT_MS = 30_000;
const MAX_LOG_BYTES = 1_000_000;

/** The server program was started, but exited or did not answer. */
export class RedisNotStartedError extends CaretakerError {
  readonly code = 'REDIS_NOT_STARTED';
  constructor(
    readonly folder: RedisFolder,
    what: string,
  ) {
    super(`The embedded Redis in ${folder.dir} ${what}`);
  }
}

/**
 * Makes sure that a server answers in the folder. Returns whether this call started it.
 *
 * @throws {RedisMissingError} when none is installed.
 * @throws {RedisNotStartedError} when it exits immediately or does not answer.
 */
export async function ensureServer(folder: RedisFolder): Promise<boolean> {
  if ((await healthOf(folder.socketPath)) !== 'down') return false;
  if (await awaitAnswer(folder)) return false;
  await startServer(folder);
  return true;
}

/** Asks the server to write everything to disk and exit. Returns whether it has exited. */
export async function stopServer(folder: RedisFolder): Promise<boolean> {
  await askServer(folder.socketPath, 'SHUTDOWN');
  const isGone = async () => !(await isRunning(folder)) && (await healthOf(folder.socketPath)) === 'down';
  if (!(await until(isGone, { everyMs: 5, limitMs: STOP_TIMEOUT_MS }))) return false;
  const socketFolder = dirname(folder.socketPath);
  // A folder among the system's temporary files is created again when needed. Other files in it are kept.
  if (socketFolder !== folder.dir) await rmdir(socketFolder).catch(() => undefined);
  return true;
}

/**
 * Waits without a time limit while the server loads its data.
 *
 * @throws {RedisNotStartedError} when it exits meanwhile.
 */
export async function awaitLoaded(folder: RedisFolder): Promise<void> {
  let health = 'loading' as Health;
  const hasDone = async () => {
    health = await healthOf(folder.socketPath, ANSWER_TIMEOUT_MS);
    return health !== 'loading';
  };
  await until(hasDone, { everyMs: 20, limitMs: Number.POSITIVE_INFINITY });
  if (health === 'down') throw await notStarted(folder, 'exited while it loaded its data');
}

/**
 * A second server on the same files would corrupt them. So a server that runs without answering (just
 * started, busy, stopped by a debugger) is waited for. Returns whether it answers now; false means that there
 * is none.
 */
async function awaitAnswer(folder: RedisFolder): Promise<boolean> {
  if (!(await isRunning(folder))) return false;
  let answers = false;
  const isSettled = async () => {
    answers = (await healthOf(folder.socketPath)) !== 'down';
    return answers || !(await isRunning(folder));
  };
  if (await until(isSettled, { everyMs: 20, limitMs: 2_000 })) return answers;
  const pid = await pidOf(folder);
  // The temporary folder was cleaned up: the server is running, but can no longer be reached.
  if (!existsSync(folder.socketPath)) terminate(pid);
  if (await until(isSettled, { everyMs: 100, limitMs: ANSWER_TIMEOUT_MS })) return answers;
  throw new RedisNotStartedError(
    folder,
    `runs as process ${pid} but does not answer: check it, and stop it.`,
  );
}

function terminate(pid: number): void {
  try {
    process.kill(pid, 'SIGTERM');
  } catch {
    // It has already exited, which the caller notices.
  }
}

async function startServer(folder: RedisFolder): Promise<void> {
  const binary = await findServerBinary();
  await rotateLog(folder.logFile);
  // The last user may have removed it meanwhile.
  if (dirname(folder.socketPath) !== folder.dir) await makePrivate(dirname(folder.socketPath));
  const log = await open(folder.logFile, 'a', 0o600);
  const { size: logStart } = await log.stat();
  let ended: string | undefined;
  try {
    // Started in its own process group, so that Ctrl-C does not stop it before we are done. It outlives this
    // process, and must not get the environment, which contains the tokens.
    const server = spawn(binary, optionsFor(folder), {
      cwd: folder.dir,
      detached: true,
      stdio: ['ignore', log.fd, log.fd],
      env: { PATH: process.env['PATH'] },
    });
    server.on('exit', (code, signal) => {
      ended = signal ?? `code ${code}`;
    });
    server.on('error', (error) => {
      ended = error.message;
    });
    server.unref();
    if (server.pid !== undefined) stopWithoutUsers(folder, server.pid);
  } finally {
    await log.close();
  }
  const answers = async () => ended !== undefined || (await healthOf(folder.socketPath)) !== 'down';
  const inTime = await until(answers, { everyMs: 3, limitMs: ANSWER_TIMEOUT_MS });
  if (inTime && ended === undefined) return;
  const what = inTime
    ? `exited immediately (${ended})`
    : `does not answer after ${ANSWER_TIMEOUT_MS / 1_000} seconds`;
  throw await notStarted(folder, what, logStart);
}

// biome-ignore format: an option and its value stay side by side
const optionsFor = ({ dir, socketPath, pidFile }: RedisFolder) => [
  // The socket is the only access, and for this user only.
  '--port', '0', '--unixsocket', socketPath, '--unixsocketperm', '700',
  // Always: with `everysec`, up to two seconds of acknowledged writes may be lost with the process. If an
  // intent were among them, its effect would happen twice. It costs a tenth of a millisecond per command;
  // requests dominate the time.
  '--dir', dir, '--appendonly', 'yes', '--appendfsync', 'always', '--save', '',
  // A queue must not silently lose entries to make room for others.
  '--maxmemory-policy', 'noeviction',
  // `isRunning` identifies the server by these two.
  '--pidfile', pidFile, '--set-proc-title', 'no',
  // Only warnings, at most one in 30 seconds of each kind, so that the log stays small.
  '--daemonize', 'no', '--loglevel', 'warning',
];

/** The process id alone proves nothing: another process may have it by now. */
async function isRunning(folder: RedisFolder): Promise<boolean> {
  const command = await commandOf(await pidOf(folder));
  return command?.includes(folder.pidFile) ?? false;
}

async function pidOf(folder: RedisFolder): Promise<number> {
  return Number.parseInt(await readFile(folder.pidFile, 'utf8').catch(() => ''), 10);
}

async function rotateLog(logFile: string): Promise<void> {
  const size = await stat(logFile).then(
    (stats) => stats.size,
    () => 0,
  );
  if (size > MAX_LOG_BYTES) await rename(logFile, `${logFile}.1`);
}

async function notStarted(folder: RedisFolder, what: string, logStart = 0): Promise<CaretakerError> {
  // On a full disk the server cannot even log the cause.
  const full = await fullDisk(folder);
  if (full) return full;
  const text = (await readFile(folder.logFile)).subarray(logStart).toString('utf8');
  // Without the prefix that Redis writes (process, role, time and level), and without its warnings at each
  // start.
  const lines = text.split('\n').map((line) => line.replace(/^\d+:[A-Z] .*? [#*.-] /, ''));
  const lastLine = lines.findLast((line) => line !== '' && !line.startsWith('WARNING'));
  const logged = lastLine ? `its last log line: ${lastLine} (${folder.logFile})` : `see ${folder.logFile}`;
  return new RedisNotStartedError(folder, `${what}; ${logged}`);
}
