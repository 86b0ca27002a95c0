/**
 * Keeps files in a folder of the operator's choice, under names that we make: nothing from outside can lead out of the
 * folder, and a file is there whole or not at all.
 */
import { createHash, randomUUID } from 'node:crypto';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { z } from 'zod';
import { CaretakerError, messageOf, systemCodeOf } from '../errors.ts';

/** A file could not be kept. Its message says which, and why. */
export class ArchiveError extends CaretakerError {
  readonly code = 'ARCHIVE';
}

/** A folder as a policy writes it: from the root on, here or on Windows. Relative to what else would a daemon take it? */
export const ArchiveFolder = z
  .string()
  .regex(/^(\/|[A-Za-z]:[\\/])/, { error: 'takes a folder from the root on, such as /srv/reports' });

/** No report is anywhere near as large. */
const LARGEST_BYTES = 100 * 1024 * 1024;
/** File systems take names of 255 bytes; we add an ending and, while a file is being written, some more. */
const LONGEST_NAME_BYTES = 150;
/** Names that Windows keeps for devices, whatever their ending: a folder may be shared with it. */
const reserved = /^(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(\.|$)/i;

/**
 * Writes `content` under `<dir>/<names>.pdf`, a folder for each name but the last, and replaces what lay there. Gives the
 * file's path.
 *
 * @throws {ArchiveError} when the file cannot be written, or is larger than `largestBytes`; nothing is left of it then.
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
      return await work;
    } catch (error) {
      content.destroy();
      throw new ArchiveError(`${file} could not be written: ${whyNot(error)}.`, { cause: error });
    }
  };
  await filing(mkdir(folder, { recursive: true }));
  const part = join(folder, `.${randomUUID()}.part`);
  try {
    const handle = await filing(open(part, 'wx'));
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
      await handle.close();
    }
    await filing(rename(part, file));
  } catch (error) {
    await rm(part, { force: true }).catch(() => undefined);
    throw error;
  }
  return file;
}

/**
 * A name that every file system takes, that leads nowhere, and that a person recognises. Two different texts never get
 * the same one: where something had to be changed, a few letters at the end tell them apart.
 */
export function safeName(text: string): string {
  const plain = text
    .normalize('NFC')
    .replaceAll(/[^\p{L}\p{M}\p{N} ._@+,()&-]+/gu, '-')
    .replace(/^[. -]+/, '')
    .replace(/[. -]+$/, '');
  const short = atMost(plain, LONGEST_NAME_BYTES);
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
