/**
 * Decompresses bodies by their `Content-Encoding`. We do not ask for compression, but without an
 * `Accept-Encoding` header a service or a proxy may use any.
 */
import { pipeline, type Readable, type Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib';

const decoders: Record<string, (first: Buffer) => Transform> = {
  gzip: () => createGunzip(),
  'x-gzip': () => createGunzip(),
  // The standard means the zlib format here, but some servers send raw deflate. Only zlib begins with method
  // 8.
  deflate: (first) => ((first[0] ?? 0) % 16 === 8 ? createInflate() : createInflateRaw()),
  br: () => createBrotliDecompress(),
};

/** The body uses an unsupported compression, or does not match its `Content-Encoding`. */
export class EncodingError extends Error {}

/**
 * Streams the decompressed body. The reader limits the size, so that a small body that expands to a large one
 * costs no memory. `encoding` is the value of the header.
 *
 * @throws {EncodingError} while reading, when the compression is another one or incomplete
 * @throws the error of `body` when the body is cut
 */
export async function* decoded(body: Readable, encoding: string | undefined): AsyncGenerator<Buffer> {
  const names = (encoding ?? '').split(',').map((name) => name.trim().toLowerCase());
  const [name, ...more] = names.filter((one) => one !== '' && one !== 'identity');
  if (name === undefined) {
    yield* body;
    return;
  }
  const decoder = Object.hasOwn(decoders, name) ? decoders[name] : undefined;
  if (!decoder || more.length > 0) throw new EncodingError(`its answer is compressed as ${encoding}`);
  yield* through(body, name, decoder);
}

async function* through(
  body: Readable,
  name: string,
  decoder: (first: Buffer) => Transform,
): AsyncGenerator<Buffer> {
  const chunks = body.iterator() as NodeJS.AsyncIterator<Buffer>;
  const first = await chunks.next();
  // An empty body needs no decompression.
  if (first.done) return;
  let broken: unknown;
  async function* whole() {
    try {
      yield first.value as Buffer;
      yield* chunks;
    } catch (error) {
      broken = error;
      throw error;
    }
  }
  try {
    yield* pipeline(whole, decoder(first.value), () => undefined);
  } catch (error) {
    if (broken !== undefined) throw broken;
    const why = error instanceof Error ? error.message : String(error);
    throw new EncodingError(`its answer cannot be decompressed as ${name} (${why})`, { cause: error });
  }
}

// Checks that a PDF is valid and complete. A file is usually opened much later, when an error cannot be
// corrected any more.

const BEGIN = Buffer.from('%PDF-');
const END = '%%EOF';
/** PDF readers look for the end marker in this many bytes. */
const END_WITHIN_BYTES = 1024;

/** The body is not a PDF, or an incomplete one. */
export class PdfError extends Error {}

/**
 * Passes a PDF through as a stream. With `endsOpen`, only the file itself shows that it is complete: the
 * answer had no length, and a broken connection looks like a closed one.
 *
 * @throws {PdfError} before the first byte when it is not a PDF, after the last one when its end is missing
 */
export async function* asPdf(
  chunks: AsyncIterable<Buffer>,
  { endsOpen }: { endsOpen: boolean },
): AsyncGenerator<Buffer> {
  let head: Buffer | undefined = Buffer.alloc(0);
  let tail = Buffer.alloc(0);
  for await (const chunk of chunks) {
    tail = Buffer.concat([tail, chunk.subarray(-END_WITHIN_BYTES)]).subarray(-END_WITHIN_BYTES);
    if (head === undefined) {
      yield chunk;
      continue;
    }
    head = Buffer.concat([head, chunk]);
    if (head.length < BEGIN.length) continue;
    yield checkedHead(head);
    head = undefined;
  }
  if (head !== undefined) checkedHead(head);
  if (endsOpen && !tail.includes(END)) throw new PdfError('its PDF is incomplete');
}

function checkedHead(head: Buffer): Buffer {
  if (head.subarray(0, BEGIN.length).equals(BEGIN)) return head;
  throw new PdfError('its answer is not a PDF');
}
