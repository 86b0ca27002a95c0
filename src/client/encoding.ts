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
