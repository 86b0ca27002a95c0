/**
 * Text for a terminal of some width: sentences go on in the next line between words, what stands in columns
 * is cut.
 */
import { stripVTControlCharacters } from 'node:util';

const widthOf = (text: string): number => stripVTControlCharacters(text).length;

/**
 * A sentence in lines of at most `columns`, those after the first set in by `indent`; a longer word stays
 * whole.
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

/** The lines of a code frame, cut on both sides until they fit and the caret is in sight. */
export function fittedFrame(lines: readonly string[], columns: number | undefined): readonly string[] {
  if (columns === undefined) return lines;
  const gutter = (lines[0] ?? '').indexOf('|') + 2;
  const caret = Math.max(...lines.filter(isCaret).map((line) => line.indexOf('^')));
  const away = caret < columns - 1 ? 0 : caret - gutter - Math.floor((columns - gutter) / 2);
  return lines.map((line) => {
    const [left, right] = isCaret(line) ? [' ', ''] : ['…', '…'];
    const moved =
      away === 0 || line.length <= gutter
        ? line
        : line.slice(0, gutter) + left + line.slice(gutter + away + 1);
    return moved.length <= columns ? moved : moved.slice(0, columns - right.length) + right;
  });
}

/** Whether a line of a frame is the one under the place. */
export const isCaret = (line: string): boolean => /\| *\t*[ \t]*\^+$/.test(line);
