/** The part of the data folder that belongs to the embedded Redis, and what lies where in it. */
import { createHash } from 'node:crypto';
import { chmod, lstat, mkdir, readlink, realpath, statfs, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { CaretakerError, messageOf, systemCodeOf } from '../../errors.ts';

/** A system cuts socket paths off at 104 (macOS) or 108 bytes (Linux), the closing zero included. */
const longestSocketPath = 100;

export interface RedisFolder {
  /** Where the server keeps its data and its own notes. */
  dir: string;
  socketPath: string;
  pidFile: string;
  logFile: string;
  /** A folder with a note for each user. */
  users: string;
  /** A folder with the tickets of the lock. */
  lock: string;
}

/** The data folder cannot be used: not writable, the disk full, or no folder at all. */
export class DataFolderError extends CaretakerError {
  readonly code = 'DATA_FOLDER_UNUSABLE';
  constructor(
    readonly dataDir: string,
    options: { cause: unknown },
  ) {
    super(`The data folder ${dataDir} ${complaint(options.cause)}`, options);
  }
}

/** Makes the folders that are missing, for this user alone, and says where everything is. */
export async function openRedisFolder(dataDir: string): Promise<RedisFolder> {
  const dir = await makeFolders(dataDir);
  return {
    dir,
    socketPath: await socketPathFor(dir),
    pidFile: join(dir, 'redis.pid'),
    logFile: join(dir, 'redis.log'),
    users: join(dir, 'users'),
    lock: join(dir, 'lock'),
  };
}

async function makeFolders(dataDir: string): Promise<string> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 }).catch(async (error: unknown) => {
    // So Node says on a read-only disk; asked for one folder alone, it says why.
    if (systemCodeOf(error) !== 'ENOENT') throw error;
    await mkdir(dataDir);
  });
  // Two names for one folder must lead to one server.
  const dir = join(await realpath(dataDir), 'redis');
  for (const folder of [dir, join(dir, 'users'), join(dir, 'lock')]) {
    await mkdir(folder, { recursive: true, mode: 0o700 });
  }
  await chmod(dir, 0o700);
  return dir;
}

/** What is wrong with the folder when nothing more fits onto its disk. */
export async function fullDisk(folder: RedisFolder): Promise<DataFolderError | undefined> {
  const { bavail } = await statfs(folder.dir);
  if (bavail > 0) return undefined;
  return new DataFolderError(dirname(folder.dir), { cause: Object.assign(new Error(), { code: 'ENOSPC' }) });
}

async function socketPathFor(dir: string): Promise<string> {
  const inside = join(dir, 'redis.sock');
  if (Buffer.byteLength(inside) <= longestSocketPath) return inside;
  const hash = createHash('sha256').update(dir).digest('hex').slice(0, 16);
  const near = join(tmpdir(), `caretaker-${hash}`, 'redis.sock');
  const proposed = Buffer.byteLength(near) <= longestSocketPath ? dirname(near) : `/tmp/caretaker-${hash}`;
  // Processes may differ in TMPDIR: the first one decides, and leaves a link for the others.
  const note = join(dir, 'socket-folder');
  await symlink(proposed, note).catch((error: unknown) => {
    if (systemCodeOf(error) !== 'EEXIST') throw error;
  });
  const chosen = await readlink(note);
  await makePrivate(chosen);
  return join(chosen, 'redis.sock');
}

/**
 * Makes a folder for this user alone. Anybody may make folders in the system's temporary folder: one made by
 * somebody else is not trusted.
 */
export async function makePrivate(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const { uid, mode } = await lstat(folder);
  if (uid !== process.getuid?.() || (mode & 0o077) !== 0) {
    throw new Error(`its socket would lie in ${folder}, which is open to others`);
  }
}

function complaint(cause: unknown): string {
  return complaints[systemCodeOf(cause) ?? ''] ?? `cannot be used: ${messageOf(cause)}.`;
}

const notWritable =
  'is not writable for us: give it to the user who runs Caretaker, or set data_dir to another folder.';
const diskFull = 'is on a full disk: make room, or set data_dir to a folder on another disk.';
const inTheWay = 'cannot be made, since a file has that name or lies on the way: remove it, or set data_dir.';
const complaints: Record<string, string> = {
  EACCES: notWritable,
  EPERM: notWritable,
  EROFS: notWritable,
  ENOSPC: diskFull,
  EDQUOT: diskFull,
  ENOTDIR: inTheWay,
  EEXIST: inTheWay,
};
