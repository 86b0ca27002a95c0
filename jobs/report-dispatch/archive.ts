/**
 * Keeps files in a folder of the operator's choice, under names that we make: nothing from outside can lead
 * out of the folder, and a file is there whole or not at all.
 */
import { createHash, randomUUID } from 'node:crypto';
import { mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { z } from 'zod';
import { CaretakerError, messageOf, systemCodeOf } from '../../src/errors.ts';

/** A file could not be kept. Its message says which, and why. */
export class ArchiveError extends CaretakerError {
  readonly code = 'ARCHIVE';
}

/**
 * A folder as a policy writes it: from the root on, here or on Windows. Relative to what else would a daemon
 * take it?
 */
export const ArchiveFolder = z
  .string()
  .regex(/^(\/|[A-Za-z]:[\\/])/, { error: 'must be an absolute path, such as /srv/reports' });

/** No report is anywhere near as large. */
const LARGEST_BYTES = 100 * 1024 * 1024;
/** File systems take names of 255 bytes; we add an ending and, while a file is being written, some more. */
const MAX_NAME_BYTES = 150;
/** A disk that is not local may never answer. */
const DOWNLOAD_TIMEOUT_MS = 60_000;
/**
 * Reports are about clients: what we make is for our own user alone. What the operator made stays as it is.
 */
const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;
/** Names that Windows keeps for devices, whatever their ending: a folder may be shared with it. */
const reserved = /^(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(\.|$)/i;

/**
 * Writes `content` under `<dir>/<names>.pdf`, a folder for each name but the last, and replaces what lay
 * there. Gives the file's path. The folder above `dir` has to be there: a disk that is not mounted is not to
 * be written beside.
 *
 * @throws {ArchiveError} when the file cannot be written, is larger than `largestBytes`, or the disk does not
 * answer for a minute; nothing is left of it then.
 * @throws what `content` throws when it breaks off.
 */
export async function keepFile(
  content: Readable,
  {
    dir,
    names,
    largestBytes = LARGEST_BYTES,
  }: { dir: string; names: readonly string[]; largestBytes?: number },
): Promise<string> {
  const safe = names.map(safeName);
  const folder = join(dir, ...safe.slice(0, -1));
  const file = join(folder, `${safe.at(-1) ?? safeName('')}.pdf`);
  const filing = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await answered(work);
    } catch (error) {
      content.destroy();
      throw new ArchiveError(`${file} could not be written: ${whyNot(error)}.`, { cause: error });
    }
  };
  await filing(makeFolders(dir, safe.slice(0, -1)));
  const part = join(folder, `.${randomUUID()}.part`);
  try {
    const handle = await filing(open(part, 'wx', FILE_MODE));
    try {
      let size = 0;
      for await (const chunk of content) {
        const bytes = Buffer.from(chunk);
        size += bytes.length;
        if (size > largestBytes) {
          throw new ArchiveError(`${file} was not written: it is larger than ${largestBytes} bytes.`);
        }
        await filing(handle.writeFile(bytes));
      }
      await filing(handle.sync());
    } finally {
      await answered(handle.close());
    }
    await filing(rename(part, file));
  } catch (error) {
    await answered(rm(part, { force: true })).catch(() => undefined);
    throw error;
  }
  return file;
}

/**
 * One by one: asked to make all of them at once, Node tries for ever where the system says that there is no
 * such place.
 */
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
 * What the disk answers, when it does in time. What was asked of it is not taken back.
 *
 * @throws {ArchiveError} when it does not.
 */
export async function answered<T>(work: Promise<T>, patienceMs = DOWNLOAD_TIMEOUT_MS): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const says = `the disk has not answered for ${patienceMs / 1000} seconds`;
    timer = setTimeout(() => reject(new ArchiveError(says)), patienceMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * A name that every file system takes, that leads nowhere, and that a person recognises. Two different texts
 * never get the same one: where something had to be changed, a few letters at the end tell them apart.
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
  EACCES: 'we may not write there',
  EPERM: 'we may not write there',
  EROFS: 'the disk can only be read',
  ENOTDIR: 'a file is in the way where a folder should be',
  EEXIST: 'a file is in the way where a folder should be',
  ENOENT: 'its folder is not there and cannot be made (the folder above archive_dir has to be there)',
  EISDIR: 'a folder is in the way where the file should be',
  ENAMETOOLONG: 'its name is too long',
  EFBIG: 'files may not be so large there',
  EIO: 'the disk fails',
};

/** Why the system did not take a file, in a clause. */
export function whyNot(error: unknown): string {
  const code = systemCodeOf(error);
  return causes[code ?? ''] ?? messageOf(error);
}
