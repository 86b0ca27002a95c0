/**
 * A private Redis of ours in the data folder, so that one process needs nothing installed but a
 * `redis-server`.
 *
 * Every process of this machine that uses the folder shares the server; the last of them stops it. Nothing is
 * left to hope: users and starts are under a lock that outlives crashes, users that were killed do not count,
 * and a server that is killed while in use comes back with what its append-only file holds.
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
  /**
   * Where clients connect: `new Redis({ path: socketPath })`. It stays the same over restarts of the server.
   */
  socketPath: string;
  /** Whether this call started the server; otherwise another user had, or it was left behind by one. */
  started: boolean;
  /** Ends this use; the last user stops the server, its data kept. Calling it again changes nothing. */
  close(): Promise<void>;
}

/**
 * Opens the Redis of a data folder, starting it when it does not run, in about 40 ms. Until `close()` it is
 * brought back within a second or so whenever it dies; clients must expect to reconnect.
 *
 * Resolves when the server answers commands: with much data that can take a while.
 *
 * @throws {RedisMissingError} when neither `redis-server` nor `valkey-server` is on the PATH.
 * @throws {DataFolderError} when the folder cannot be made or written.
 * @throws {LockHeldError} when another user of the folder hangs.
 * @throws {RedisNotStartedError} when the server ends at once or stays silent.
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
 * Waits until the server answers commands; one that is killed over its data is started again, a few times.
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

/** Never rejects: whoever closes is on the way out, and a server left running is found by the next user. */
async function leaveUsers(folder: RedisFolder, note: string, log: Log): Promise<void> {
  try {
    const isStopped = await withLock(folder.lock, async () => {
      await rm(note, { force: true });
      return (await countUsers(folder.users)) > 0 || (await stopServer(folder));
    });
    if (!isStopped) log.warn({ folder: folder.dir }, 'The embedded Redis did not stop in time and runs on.');
  } catch (error) {
    log.warn({ folder: folder.dir, err: error }, `The embedded Redis was not stopped: ${messageOf(error)}`);
  }
}
