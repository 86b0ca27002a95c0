/**
 * Checks that a PDF is valid and complete. A file is usually opened much later, when an error cannot be
 * corrected any more.
 */

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
