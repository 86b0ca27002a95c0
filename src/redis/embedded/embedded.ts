/**
 * A private Redis in the data folder, so that one process needs nothing installed except `redis-server`.
 *
 * All processes on this machine that use the folder share the server, and the last of them stops it. It
 * survives crashes: users and starts are under a lock that outlives its owner, users that were killed do not
 * count, and a server that is killed while in use is started again with the data of its append-only file.
 */
import { rm } from 'node:fs/promises';
import { CaretakerError, messageOf } from '../../errors.ts';
import type { Log } from '../../log.ts';
import { DataFolderError, openRedisFolder, type RedisFolder } from './folder.ts';
import { withLock } from './lock.ts';
import { awaitLoaded, ensureServer, stopServer } from './server.ts';
import { addUser, countUsers } from './users.ts';
import { watchServer } from './watch.ts';

export interface EmbeddedRedis {
  /** Where clients connect: `new Redis({ path: socketPath })`. It stays the same when the server restarts. */
  socketPath: string;
  /** Whether this call started the server. Otherwise another user did, or it was left running. */
  started: boolean;
  /** Ends this use. The last user stops the server, and its data is kept. A second call does nothing. */
  close(): Promise<void>;
}

/**
 * Opens the Redis of a data folder. Starts it if it is not running, which takes about 40 ms. Until `close()`,
 * a server that dies is restarted within about a second; clients must expect to reconnect.
 *
 * Resolves when the server answers commands. With much data that can take a while.
 *
 * @throws {RedisMissingError} when neither `redis-server` nor `valkey-server` is on the PATH.
 * @throws {DataFolderError} when the folder cannot be created or written.
 * @throws {LockHeldError} when another user of the folder hangs.
 * @throws {RedisNotStartedError} when the server exits immediately or does not answer.
 */
export async function openEmbeddedRedis(options: { dataDir: string; log: Log }): Promise<EmbeddedRedis> {
  const { dataDir, log } = options;
  const { folder, note, started } = await joinUsers(dataDir).catch((error: unknown) => {
    throw error instanceof CaretakerError ? error : new DataFolderError(dataDir, { cause: error });
  });
  try {
    await serve(folder, 3);
  } catch (error) {
    await leaveUsers(folder, note, log);
    throw error;
  }
  const watch = watchServer(folder, log);
  let closing: Promise<void> | undefined;
  const close = async () => {
    await watch.stop();
    await leaveUsers(folder, note, log);
  };
  return {
    socketPath: folder.socketPath,
    started,
    close() {
      closing ??= close();
      return closing;
    },
  };
}

async function joinUsers(dataDir: string): Promise<{ folder: RedisFolder; note: string; started: boolean }> {
  const folder = await openRedisFolder(dataDir);
  return withLock(folder.lock, async () => {
    const note = await addUser(folder.users);
    try {
      return { folder, note, started: await ensureServer(folder) };
    } catch (error) {
      await rm(note, { force: true });
      throw error;
    }
  });
}

/**
 * Waits until the server answers commands. If it is killed while loading its data, it is started again, a few
 * times.
 */
async function serve(folder: RedisFolder, attempts: number): Promise<void> {
  try {
    await awaitLoaded(folder);
  } catch (error) {
    if (attempts === 1) throw error;
    await withLock(folder.lock, () => ensureServer(folder));
    await serve(folder, attempts - 1);
  }
}

/** Never rejects: the caller is shutting down, and the next user finds a server that is left running. */
async function leaveUsers(folder: RedisFolder, note: string, log: Log): Promise<void> {
  try {
    const isStopped = await withLock(folder.lock, async () => {
      await rm(note, { force: true });
      return (await countUsers(folder.users)) > 0 || (await stopServer(folder));
    });
    if (!isStopped)
      log.warn({ folder: folder.dir }, 'The embedded Redis did not stop in time and keeps running.');
  } catch (error) {
    log.warn({ folder: folder.dir, err: error }, `The embedded Redis was not stopped: ${messageOf(error)}`);
  }
}
