/**
 * Bodies as they were before the service, or a proxy in front of it, compressed them (`Content-Encoding`). We
 * ask for no compression, but whoever asks for nothing may be sent any.
 */
import { pipeline, type Readable, type Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib';

const decoders: Record<string, (first: Buffer) => Transform> = {
  gzip: () => createGunzip(),
  'x-gzip': () => createGunzip(),
  // Meant is the zlib format, and some servers send the bare one: only the former begins with the method 8.
  deflate: (first) => ((first[0] ?? 0) % 16 === 8 ? createInflate() : createInflateRaw()),
  br: () => createBrotliDecompress(),
};

/** A body is compressed in a way that we cannot read, or is not what its `Content-Encoding` names. */
export class EncodingError extends Error {}

/**
 * The body without its compression, as it comes: whoever reads it bounds it, so that little which becomes
 * much costs no memory. `encoding` is the header's value.
 *
 * @throws {EncodingError} while it is read, when it is compressed otherwise or not to its end
 * @throws what `body` throws when it breaks off
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
  // An empty body stands for nothing, whatever it is called.
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
