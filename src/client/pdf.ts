/**
 * Whether what comes as a PDF is one, and whole: a file named .pdf is not opened before somebody needs it.
 */

const BEGIN = Buffer.from('%PDF-');
const END = '%%EOF';
/** Readers look for the end in so many bytes. */
const END_WITHIN_BYTES = 1024;

/** What came as a PDF is none, or not the whole of one. */
export class PdfError extends Error {}

/**
 * Hands on a PDF as it comes. With `endsOpen` nothing but the file itself shows that it came to its end: the
 * answer told no length, and a connection that was cut looks like one that was closed.
 *
 * @throws {PdfError} before the first byte when it is no PDF, after the last one when its end is missing
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
    yield begun(head);
    head = undefined;
  }
  if (head !== undefined) begun(head);
  if (endsOpen && !tail.includes(END)) throw new PdfError('its PDF ends in the middle');
}

function begun(head: Buffer): Buffer {
  if (head.subarray(0, BEGIN.length).equals(BEGIN)) return head;
  throw new PdfError('its answer is not a PDF');
}
