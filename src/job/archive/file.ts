/**
 * Files in a folder that the operator chooses. File names are made safe, so that no value from outside
 * leads out of the folder. A file is either complete or not there.
 */
import { createHash, randomUUID } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { z } from 'zod';
import { CaretakerError, messageOf, systemCodeOf } from '../../errors.ts';

/** A file could not be archived. The message shows which one, and why. */
export class ArchiveError extends CaretakerError {
  readonly code = 'ARCHIVE';
}

/** A folder in a policy: an absolute path, also of Windows. A daemon has no base for a relative path. */
export const ArchiveFolder = z
  .string()
  .regex(/^(\/|[A-Za-z]:[\\/])/, { error: 'must be an absolute path, such as /srv/reports' });

/** Far larger than any report. */
const MAX_BYTES = 100 * 1024 * 1024;
/** File systems allow names of 255 bytes. This leaves room for the extension and the hash. */
const MAX_NAME_BYTES = 150;
/** A network disk may never answer. */
const DISK_TIMEOUT_MS = 60_000;
/** Reports contain data of clients, so only our own user can read what we create. Existing folders keep their mode. */
const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;
/** Names that Windows reserves for devices, with any extension. The folder may be shared with Windows. */
const reserved = /^(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(\.|$)/i;

/** A file of an archive: a folder for each name but the last, which gets the extension. */
export interface FileName {
  dir: string;
  names: readonly string[];
  /** Such as `.pdf`. */
  extension: string;
}

/** The path of a file, with names that every file system accepts. */
export function pathOf({ dir, names, extension }: FileName): string {
  const safe = names.map(safeName);
  return join(dir, ...safe.slice(0, -1), `${safe.at(-1) ?? safeName('')}${extension}`);
}

interface Keeping extends FileName {
  maxBytes?: number;
  /** Called directly before the file is put in its place; when it is false, it is not. */
  stillWanted?: () => Promise<boolean>;
}

/**
 * Writes `content` to a file, and replaces an existing one. Gives the path of the file. The parent folder of
 * `dir` must exist, so that nothing is written to the mount point of a disk that is not mounted.
 *
 * @throws {ArchiveError} when the file cannot be written, is larger than `maxBytes`, is not wanted any more,
 * or the disk does not answer for a minute. No partial file is left then.
 * @throws the error of `content` when it ends early.
 */
export async function keepFile(content: Readable, name: Keeping): Promise<string> {
  const { dir, names, maxBytes = MAX_BYTES, stillWanted = async () => true } = name;
  const file = pathOf(name);
  const folder = dirname(file);
  const filing = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await answered(work);
    } catch (error) {
      content.destroy();
      throw new ArchiveError(`${file} could not be written: ${whyNot(error)}.`, { cause: error });
    }
  };
  await filing(makeFolders(dir, names.slice(0, -1).map(safeName)));
  const part = join(folder, `.${randomUUID()}.part`);
  try {
    const handle = await filing(open(part, 'wx', FILE_MODE));
    try {
      let size = 0;
      for await (const chunk of content) {
        const bytes = Buffer.from(chunk);
        size += bytes.length;
        if (size > maxBytes) {
          throw new ArchiveError(`${file} was not written: it is larger than ${maxBytes} bytes.`);
        }
        await filing(handle.writeFile(bytes));
      }
      await filing(handle.sync());
    } finally {
      await answered(handle.close());
    }
    if (!(await filing(stillWanted())))
      throw new ArchiveError(`${file} was not written: another process has changed it meanwhile.`);
    await filing(rename(part, file));
  } catch (error) {
    await answered(rm(part, { force: true })).catch(() => undefined);
    throw error;
  }
  return file;
}

/** What is known of a file: its text, and a mark that differs after every change of it. */
export interface KeptFile {
  text: string;
  mark: string;
}

/**
 * Reads a file of an archive; undefined when there is none.
 *
 * @throws {ArchiveError} when it cannot be read.
 */
export async function readKept(name: FileName): Promise<KeptFile | undefined> {
  const file = pathOf(name);
  return reading(file, async () => {
    const mark = await markOf(name);
    return mark === undefined ? undefined : { text: await readFile(file, 'utf8'), mark };
  });
}

/** A mark of a file that differs after every change of it; undefined when there is none. */
export async function markOf(name: FileName): Promise<string | undefined> {
  return reading(pathOf(name), async () => {
    const found = await stat(pathOf(name)).catch(unlessAbsent);
    return found && `${found.ino} ${found.mtimeMs} ${found.size}`;
  });
}

/** The names of the files of a folder that have this extension, without it; none when there is no folder. */
export async function namesIn({ dir, names, extension }: FileName): Promise<string[]> {
  const folder = join(dir, ...names.map(safeName));
  return reading(folder, async () => {
    const files = (await readdir(folder).catch(unlessAbsent)) ?? [];
    return files.filter((file) => file.endsWith(extension)).map((file) => file.slice(0, -extension.length));
  });
}

/** Removes a file, if it is there. */
export async function removeKept(name: FileName): Promise<void> {
  await reading(pathOf(name), () => rm(pathOf(name), { force: true }));
}

async function reading<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await answered(work());
  } catch (error) {
    throw new ArchiveError(`${path} could not be read: ${whyNot(error)}.`, { cause: error });
  }
}

function unlessAbsent(error: unknown): undefined {
  if (systemCodeOf(error) !== 'ENOENT') throw error;
  return undefined;
}

/** Creates the folders one by one: a recursive `mkdir` of Node never ends where the system answers ENOENT. */
async function makeFolders(dir: string, names: readonly string[]): Promise<void> {
  let folder = dir;
  for (const name of ['', ...names]) {
    folder = join(folder, name);
    try {
      await mkdir(folder, { mode: FOLDER_MODE });
    } catch (error) {
      if (!(await isFolder(folder))) throw error;
    }
  }
}

const isFolder = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );

/**
 * The result of a disk operation, if the disk answers in time. The operation itself is not cancelled.
 *
 * @throws {ArchiveError} when the disk does not answer in time.
 */
export async function answered<T>(work: Promise<T>, timeoutMs = DISK_TIMEOUT_MS): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const message = `the disk has not answered for ${timeoutMs / 1000} seconds`;
    timer = setTimeout(() => reject(new ArchiveError(message)), timeoutMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * A name that every file system accepts, that contains no path, and that a person recognizes. Two different
 * texts never get the same name: a name that had to be changed ends with a hash of the text.
 */
export function safeName(text: string): string {
  const plain = text
    .normalize('NFC')
    .replaceAll(/[^\p{L}\p{M}\p{N} ._@+,()&-]+/gu, '-')
    .replace(/^[. -]+/, '')
    .replace(/[. -]+$/, '');
  const short = atMost(plain, MAX_NAME_BYTES);
  if (short === text && short !== '' && !reserved.test(short)) return short;
  const mark = createHash('sha256').update(text).digest('hex').slice(0, 8);
  const kept = reserved.test(short) ? `_${short}` : short;
  return kept === '' ? mark : `${kept}-${mark}`;
}

function atMost(text: string, bytes: number): string {
  let [kept, size] = ['', 0];
  for (const letter of text) {
    size += Buffer.byteLength(letter);
    if (size > bytes) break;
    kept += letter;
  }
  return kept;
}

const causes: Record<string, string> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the disk is read-only',
  ENOTDIR: 'a file exists in place of a folder',
  EEXIST: 'a file exists in place of a folder',
  ENOENT: 'its folder does not exist and cannot be created (the parent folder of archive_dir must exist)',
  EISDIR: 'a folder exists in place of the file',
  ENAMETOOLONG: 'its name is too long',
  EFBIG: 'the file is too large for the disk',
  EIO: 'the disk reported an input/output error',
};

/** Why a file could not be written, as a clause. */
export function whyNot(error: unknown): string {
  const code = systemCodeOf(error);
  return causes[code ?? ''] ?? messageOf(error);
}
