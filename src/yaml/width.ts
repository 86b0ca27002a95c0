/**
 * Fits text into the width of a terminal: sentences are wrapped between words, code frames are cut. A column
 * is one narrow character. Most emoji and East Asian characters take two.
 */
import { createRequire } from 'node:module';

/** Each character takes one column. */
const narrow = /^[\t\x20-\x7e]*$/;

/** Loaded for the first text that needs it: that takes an eighth of the time of `caretaker --help`. */
const require = createRequire(import.meta.url);
const measure = (text: string): number =>
  (require('string-width') as typeof import('string-width')).default(text);

/** The number of columns of a text. Colours take none, a tab counts as one. */
export const widthOf = (text: string): number =>
  narrow.test(text) ? text.length : measure(text.replaceAll('\t', ' '));

/** The part of a text without colours between two columns. A wide character cut in half becomes a space. */
export function columnsOf(text: string, from: number, to: number): string {
  if (narrow.test(text)) return text.slice(from, to);
  let part = '';
  let at = 0;
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    if (at >= to) break;
    const end = at + widthOf(segment);
    if (at >= from && end <= to) part += segment;
    else if (end > from) part += ' '.repeat(Math.min(end, to) - Math.max(at, from));
    at = end;
  }
  return part;
}

/**
 * Wraps a sentence at `columns`, with all lines but the first indented by `indent`. Words are never split.
 */
export function wrapped(text: string, columns: number | undefined, indent = 0): string {
  if (columns === undefined) return text;
  const lines: string[] = [];
  let line: string | undefined;
  for (const word of text.split(' ')) {
    const longer: string = line === undefined ? word : `${line} ${word}`;
    const room = columns - (lines.length === 0 ? 0 : indent);
    if (line === undefined || widthOf(longer) <= room) line = longer;
    else {
      lines.push(line);
      line = word;
    }
  }
  return [...lines, line ?? ''].join(`\n${' '.repeat(indent)}`);
}

/** The lines of a code frame, cut on both sides until they fit and the caret is visible. */
export function fittedFrame(lines: readonly string[], columns: number | undefined): readonly string[] {
  if (columns === undefined) return lines;
  const gutter = (lines[0] ?? '').indexOf('|') + 2;
  // Only spaces and tabs stand before a caret, so its index is its column.
  const caret = Math.max(...lines.filter(isCaret).map((line) => line.indexOf('^')));
  const shift = caret < columns - 1 ? 0 : caret - gutter - Math.floor((columns - gutter) / 2);
  return lines.map((line) => {
    const [left, right] = isCaret(line) ? [' ', ''] : ['…', '…'];
    const moved =
      shift === 0 || widthOf(line) <= gutter
        ? line
        : line.slice(0, gutter) + left + columnsOf(line, gutter + shift + 1, Number.POSITIVE_INFINITY);
    return widthOf(moved) <= columns ? moved : columnsOf(moved, 0, columns - right.length) + right;
  });
}

/** Whether a line of a frame is the line with the carets. */
export const isCaret = (line: string): boolean => /\| *\t*[ \t]*\^+$/.test(line);
