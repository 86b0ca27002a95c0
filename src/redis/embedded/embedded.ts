/**
 * A private Redis in the data folder, so that one process needs nothing installed except `redis-server`.
 *
 * All processes on this machine that use the folder share the server, and the last of them stops it. It
 * survives crashes: users and starts are under a lock that outlives its owner, users that were killed do not
 * count, and a server that is killed while in use is started again with the data of its append-only file.
 */
import { randomUUID } from 'node:crypto';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CaretakerError, messageOf } from '../../errors.ts';
import type { Log } from '../../log.ts';
import { DataFolderError, openRedisFolder, type RedisFolder } from './folder.ts';
import { withLock } from './lock.ts';
import { isAlive, ownIdentity } from './processes.ts';
import { awaitLoaded, ensureServer, stopServer } from './server.ts';
import { watchServer } from './watch.ts';

// The users of the server of a folder: one file each. All of this happens under the folder's lock.

/** Records one more use of the server by this process, and returns the path of the file. */
export async function addUser(folder: string): Promise<string> {
  const note = join(folder, `${process.pid}-${randomUUID()}`);
  await writeFile(note, await ownIdentity(), { mode: 0o600 });
  return note;
}

/** The number of files of living processes. Files of dead ones are removed. */
export async function countUsers(folder: string): Promise<number> {
  const notes = (await readdir(folder)).map((name) => join(folder, name));
  const living = await Promise.all(
    notes.map(async (note) => {
      const alive = await isAlive(await readFile(note, 'utf8'));
      if (!alive) await rm(note, { force: true });
      return alive;
    }),
  );
  return living.filter(Boolean).length;
}

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
