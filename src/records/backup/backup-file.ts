/**
 * The file of a backup: gzip of JSON lines. The first line says what it is, then one line for each key, and the last
 * one has the number of keys and the SHA-256 of all lines before it.
 */
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { z } from 'zod';
import { CaretakerError, fileFaultOf, systemCodeOf } from '../../errors.ts';
import { parsedJson } from '../../text.ts';

/** A backup cannot be taken or restored; the message says why, and nothing was changed unless it says so. */
export class BackupError extends CaretakerError {
  readonly code = 'BACKUP';
}

const FORMAT = 'caretaker-backup';
const VERSION = 1;

const Header = z.object({
  format: z.literal(FORMAT),
  version: z.number(),
  /** The version of the records. */
  records: z.number(),
  /** The release that wrote it. */
  caretaker: z.string(),
  /** When it began, in milliseconds since 1970. What was done after that is not known from it. */
  taken_at: z.number(),
});
export type Header = Omit<z.output<typeof Header>, 'format' | 'version'>;

/** A key with its value as Redis dumps it, in base64, and when it expires. */
const Entry = z.object({ key: z.string(), expires_at: z.exactOptional(z.number()), value: z.string() });
export type Entry = z.output<typeof Entry>;

const Trailer = z.object({ keys: z.number(), sha256: z.string() });

/** Writes a backup, readable by its owner only; the file appears when it is complete. Returns the number of keys. */
export async function writeBackupFile(
  file: string,
  header: Header,
  entries: AsyncIterable<Entry>,
): Promise<number> {
  const hash = createHash('sha256');
  let keys = 0;
  const line = (value: object) => {
    const text = `${JSON.stringify(value)}\n`;
    hash.update(text);
    return text;
  };
  async function* lines() {
    yield line({ format: FORMAT, version: VERSION, ...header });
    for await (const entry of entries) {
      keys += 1;
      yield line(entry);
    }
    yield `${JSON.stringify({ keys, sha256: hash.digest('hex') })}\n`;
  }
  const part = `${file}.${process.pid}.part`;
  try {
    await pipeline(
      Readable.from(lines()),
      createGzip(),
      createWriteStream(part, { mode: 0o600, flags: 'wx' }),
    );
    await rename(part, file);
    return keys;
  } catch (error) {
    await rm(part, { force: true });
    if (systemCodeOf(error) === undefined) throw error;
    throw new BackupError(`${file} cannot be written: ${fileFaultOf(error)}.`, { cause: error });
  }
}

/**
 * Reads a backup to its end, and checks that it is complete and unchanged.
 *
 * @throws {BackupError}
 */
export async function checkBackupFile(file: string): Promise<Header & { keys: number }> {
  const hash = createHash('sha256');
  let header: Header | undefined;
  let last: string | undefined;
  let lines = 0;
  for await (const line of linesOf(file)) {
    header ??= headerIn(line, file);
    if (last !== undefined) hash.update(`${last}\n`);
    last = line;
    lines += 1;
  }
  const trailer = Trailer.safeParse(parsedJson(last ?? '')).data;
  if (header === undefined || trailer?.keys !== lines - 2 || trailer.sha256 !== hash.digest('hex'))
    throw new BackupError(`${file} is not a complete backup: its checksum does not match.`);
  return { ...header, keys: trailer.keys };
}

/** The keys of a backup that was checked. */
export async function* entriesOf(file: string): AsyncGenerator<Entry> {
  for await (const line of linesOf(file)) {
    const entry = Entry.safeParse(parsedJson(line)).data;
    if (entry) yield entry;
  }
}

function headerIn(line: string, file: string): Header {
  const header = Header.safeParse(parsedJson(line)).data;
  if (!header) throw new BackupError(`${file} is not a backup of Caretaker.`);
  if (header.version > VERSION)
    throw new BackupError(
      `${file} was written by Caretaker ${header.caretaker} in a newer format: restore it with that release.`,
    );
  return header;
}

async function* linesOf(file: string): AsyncGenerator<string> {
  const [source, text] = [createReadStream(file), createGunzip()];
  source.on('error', (error) => text.destroy(error));
  source.pipe(text).setEncoding('utf8');
  // A value may be long: it comes in many parts.
  let parts: string[] = [];
  try {
    for await (const chunk of text as AsyncIterable<string>) {
      let from = 0;
      for (let end = chunk.indexOf('\n'); end >= 0; end = chunk.indexOf('\n', from)) {
        yield `${parts.join('')}${chunk.slice(from, end)}`;
        parts = [];
        from = end + 1;
      }
      parts.push(chunk.slice(from));
    }
  } catch (error) {
    throw new BackupError(`${file} cannot be read as a backup: ${fileFaultOf(error)}.`, { cause: error });
  } finally {
    source.destroy();
  }
}
