/** The part of the data folder that belongs to the embedded Redis, and its layout. */
import { createHash } from 'node:crypto';
import { chmod, lstat, mkdir, readlink, realpath, statfs, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { CaretakerError, messageOf, systemCodeOf } from '../../errors.ts';

/** The system truncates socket paths at 104 (macOS) or 108 bytes (Linux), including the terminating zero. */
const MAX_SOCKET_PATH = 100;

export interface RedisFolder {
  /** The folder for the server's data and files. */
  dir: string;
  socketPath: string;
  pidFile: string;
  logFile: string;
  /** A folder with one file per user. */
  users: string;
  /** A folder with the tickets of the lock. */
  lock: string;
}

/** The data folder cannot be used: it is not writable, the disk is full, or it is not a folder. */
export class DataFolderError extends CaretakerError {
  readonly code = 'DATA_FOLDER_UNUSABLE';
  constructor(
    readonly dataDir: string,
    options: { cause: unknown },
  ) {
    super(`The data folder ${dataDir} ${problemOf(options.cause)}`, options);
  }
}

/** Creates missing folders, accessible to this user only, and returns all paths. */
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
    // Node reports ENOENT on a read-only disk. Creating a single folder gives the real cause.
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

/** The error for a full disk; undefined when there is space. */
export async function fullDisk(folder: RedisFolder): Promise<DataFolderError | undefined> {
  const { bavail } = await statfs(folder.dir);
  if (bavail > 0) return undefined;
  return new DataFolderError(dirname(folder.dir), { cause: Object.assign(new Error(), { code: 'ENOSPC' }) });
}

async function socketPathFor(dir: string): Promise<string> {
  const inside = join(dir, 'redis.sock');
  if (Buffer.byteLength(inside) <= MAX_SOCKET_PATH) return inside;
  const hash = createHash('sha256').update(dir).digest('hex').slice(0, 16);
  const near = join(tmpdir(), `caretaker-${hash}`, 'redis.sock');
  const proposed = Buffer.byteLength(near) <= MAX_SOCKET_PATH ? dirname(near) : `/tmp/caretaker-${hash}`;
  // Processes may differ in TMPDIR: the first one chooses, and leaves a link for the others.
  const note = join(dir, 'socket-folder');
  await symlink(proposed, note).catch((error: unknown) => {
    if (systemCodeOf(error) !== 'EEXIST') throw error;
  });
  const chosen = await readlink(note);
  await makePrivate(chosen);
  return join(chosen, 'redis.sock');
}

/**
 * Creates a folder for this user only. Everyone may create folders in the system's temporary folder, so a
 * folder of another user is not trusted.
 */
export async function makePrivate(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const { uid, mode } = await lstat(folder);
  if (uid !== process.getuid?.() || (mode & 0o077) !== 0) {
    throw new Error(`its socket would be in ${folder}, which other users can access`);
  }
}

function problemOf(cause: unknown): string {
  return problems[systemCodeOf(cause) ?? ''] ?? `cannot be used: ${messageOf(cause)}.`;
}

const notWritable =
  'is not writable: make the user who runs Caretaker its owner, or set data_dir to another folder.';
const diskFull = 'is on a full disk: free some space, or set data_dir to a folder on another disk.';
const fileInPath = 'cannot be created, since its path contains a file: remove that file, or set data_dir.';
const problems: Record<string, string> = {
  EACCES: notWritable,
  EPERM: notWritable,
  EROFS: notWritable,
  ENOSPC: diskFull,
  EDQUOT: diskFull,
  ENOTDIR: fileInPath,
  EEXIST: fileInPath,
};
