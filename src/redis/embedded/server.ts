/** Starting and stopping the server of a folder. All of it happens under the folder's lock. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { open, readFile, rename, rmdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { CaretakerError } from '../../errors.ts';
import { findServerBinary } from './binary.ts';
import { askServer, type Health, healthOf } from './command.ts';
import { fullDisk, makePrivate, type RedisFolder } from './folder.ts';
import { commandOf } from './processes.ts';
import { endWhenAlone } from './sole-server.ts';
import { until } from './until.ts';

/** How long a server may take until it answers at all; that it then still loads its data is an answer. */
const answerLimitMs = 30_000;
const stopLimitMs = 30_000;
const logLimitBytes = 1_000_000;

/** The server's program ran, and ended or stayed silent instead of serving. */
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
 * Sees to it that a server answers in the folder, and tells whether this call started it.
 *
 * @throws {RedisMissingError} when none is installed.
 * @throws {RedisNotStartedError} when it ends at once, or does not answer.
 */
export async function ensureServer(folder: RedisFolder): Promise<boolean> {
  if ((await healthOf(folder.socketPath)) !== 'down') return false;
  if (await outlastSilence(folder)) return false;
  await startServer(folder);
  return true;
}

/** Asks the server to write everything down and end; tells whether it is gone. */
export async function stopServer(folder: RedisFolder): Promise<boolean> {
  await askServer(folder.socketPath, 'SHUTDOWN');
  const isGone = async () => !(await isRunning(folder)) && (await healthOf(folder.socketPath)) === 'down';
  if (!(await until(isGone, { everyMs: 5, limitMs: stopLimitMs }))) return false;
  const socketFolder = dirname(folder.socketPath);
  // One among the system's temporary files is made again when it is needed; what somebody put into it stays.
  if (socketFolder !== folder.dir) await rmdir(socketFolder).catch(() => undefined);
  return true;
}

/**
 * Waits, however long, while the server reads its data.
 *
 * @throws {RedisNotStartedError} when it ends over that.
 */
export async function awaitLoaded(folder: RedisFolder): Promise<void> {
  let health = 'loading' as Health;
  const hasDone = async () => {
    health = await healthOf(folder.socketPath, answerLimitMs);
    return health !== 'loading';
  };
  await until(hasDone, { everyMs: 20, limitMs: Number.POSITIVE_INFINITY });
  if (health === 'down') throw await notStarted(folder, 'ended while it read its data');
}

/**
 * A second server on the same files would ruin them, so one that runs without answering (just started, busy,
 * stopped by a debugger) is waited for; tells whether it answers now. False means that there is none.
 */
async function outlastSilence(folder: RedisFolder): Promise<boolean> {
  if (!(await isRunning(folder))) return false;
  let answers = false;
  const isSettled = async () => {
    answers = (await healthOf(folder.socketPath)) !== 'down';
    return answers || !(await isRunning(folder));
  };
  if (await until(isSettled, { everyMs: 20, limitMs: 2_000 })) return answers;
  const pid = await pidOf(folder);
  // Somebody has tidied up the folder of temporary files: it serves, and nobody can reach it any more.
  if (!existsSync(folder.socketPath)) terminate(pid);
  if (await until(isSettled, { everyMs: 100, limitMs: answerLimitMs })) return answers;
  throw new RedisNotStartedError(
    folder,
    `runs as process ${pid} but does not answer: look at it, and stop it.`,
  );
}

function terminate(pid: number): void {
  try {
    process.kill(pid, 'SIGTERM');
  } catch {
    // It has ended by itself, which whoever waits for it sees.
  }
}

async function startServer(folder: RedisFolder): Promise<void> {
  const binary = await findServerBinary();
  await boundLog(folder.logFile);
  // The last user before may have taken it away since we looked.
  if (dirname(folder.socketPath) !== folder.dir) await makePrivate(dirname(folder.socketPath));
  const log = await open(folder.logFile, 'a', 0o600);
  const { size: logStart } = await log.stat();
  let ended: string | undefined;
  try {
    // Of a group of its own, so that Ctrl-C does not take it from us before we are done. It outlives us, and
    // has no business with our environment, where the tokens are.
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
    if (server.pid !== undefined) endWhenAlone(folder, server.pid);
  } finally {
    await log.close();
  }
  const answers = async () => ended !== undefined || (await healthOf(folder.socketPath)) !== 'down';
  const inTime = await until(answers, { everyMs: 3, limitMs: answerLimitMs });
  if (inTime && ended === undefined) return;
  const what = inTime ? `ended at once (${ended})` : `does not answer after ${answerLimitMs / 1_000} seconds`;
  throw await notStarted(folder, what, logStart);
}

// biome-ignore format: an option and its value stay side by side
const optionsFor = ({ dir, socketPath, pidFile }: RedisFolder) => [
  // The socket is the only way in, and for this user alone.
  '--port', '0', '--unixsocket', socketPath, '--unixsocketperm', '700',
  // Always: with `everysec`, what was answered up to two seconds ago may be lost with the process, an intent
  // among it, and its effect would happen twice. It costs a tenth of a millisecond a command; requests are
  // what time goes into.
  '--dir', dir, '--appendonly', 'yes', '--appendfsync', 'always', '--save', '',
  // A queue must not lose entries silently to make room for others.
  '--maxmemory-policy', 'noeviction',
  // `isRunning` knows the server by these two.
  '--pidfile', pidFile, '--set-proc-title', 'no',
  // Only warnings, at most one in 30 seconds of a kind: a log that does not grow over the months.
  '--daemonize', 'no', '--loglevel', 'warning',
];

/** The number alone proves nothing: it may be another process's by now. */
async function isRunning(folder: RedisFolder): Promise<boolean> {
  const command = await commandOf(await pidOf(folder));
  return command?.includes(folder.pidFile) ?? false;
}

async function pidOf(folder: RedisFolder): Promise<number> {
  return Number.parseInt(await readFile(folder.pidFile, 'utf8').catch(() => ''), 10);
}

async function boundLog(logFile: string): Promise<void> {
  const size = await stat(logFile).then(
    (stats) => stats.size,
    () => 0,
  );
  if (size > logLimitBytes) await rename(logFile, `${logFile}.1`);
}

async function notStarted(folder: RedisFolder, what: string, logStart = 0): Promise<CaretakerError> {
  // On a full disk it cannot even say so.
  const full = await fullDisk(folder);
  if (full) return full;
  const text = (await readFile(folder.logFile)).subarray(logStart).toString('utf8');
  // Without what Redis puts before a message (process, role, time and level), and what it warns of at each
  // start.
  const lines = text.split('\n').map((line) => line.replace(/^\d+:[A-Z] .*? [#*.-] /, ''));
  const lastLine = lines.findLast((line) => line !== '' && !line.startsWith('WARNING'));
  const said = lastLine ? `the last it said: ${lastLine} (${folder.logFile})` : `see ${folder.logFile}`;
  return new RedisNotStartedError(folder, `${what}; ${said}`);
}
