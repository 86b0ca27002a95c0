/**
 * What a command prints and where: data goes to standard output, everything a person reads besides to standard error.
 * Colours only where a terminal shows them, and never with `NO_COLOR` (no-color.org).
 */
import { stripVTControlCharacters, styleText } from 'node:util';
import { scrub } from '../secrets.ts';

type Style = Parameters<typeof styleText>[0];

export interface Terminal {
  /** Data: a line on standard output. */
  data(text: string): void;
  /** Data as JSON, indented for a person at a terminal. */
  json(value: unknown): void;
  /** A line for a person, on standard error. */
  say(text: string): void;
  /** Replaces the last line shown by `show` at a terminal; elsewhere nothing is shown. */
  show(text: string): void;
  /** Takes away what `show` left. */
  clear(): void;
  paint(style: Style, text: string): string;
  /** Whether standard error is a terminal: progress may move. */
  readonly interactive: boolean;
  readonly color: boolean;
  readonly columns: number;
}

/** The process's own terminal. */
export function openTerminal(): Terminal {
  const interactive = process.stderr.isTTY === true && process.env['CI'] !== 'true';
  const color = process.stderr.isTTY === true && !process.env['NO_COLOR'] && process.env['TERM'] !== 'dumb';
  let shown = false;
  const clear = () => {
    if (shown) process.stderr.write('\r\u001b[K');
    shown = false;
  };
  const columns = process.stderr.columns ?? 100;
  return {
    interactive,
    color,
    columns,
    data(text) {
      clear();
      process.stdout.write(`${clean(text)}\n`);
    },
    json(value) {
      clear();
      process.stdout.write(`${JSON.stringify(value, null, process.stdout.isTTY ? 2 : 0)}\n`);
    },
    say(text) {
      clear();
      process.stderr.write(`${clean(text)}\n`);
    },
    show(text) {
      if (!interactive) return;
      process.stderr.write(`\r\u001b[K${cut(text, columns - 1)}`);
      shown = true;
    },
    clear,
    paint: (style, text) => (color ? styleText(style, text, { validateStream: false }) : text),
  };
}

/** What comes from files and from the service must not steer the terminal: only our colours get through. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for.
const steering = /\u001b(?!\[[\d;]*m)|[\u0000-\u0008\u000b-\u001a\u001c-\u001f\u007f-\u009f]/g;
const clean = (text: string): string => scrub(text).replace(steering, '·');

/** The first `width` visible characters; a line that wraps could not be replaced. */
function cut(text: string, width: number): string {
  const visible = stripVTControlCharacters(text);
  return visible.length <= width ? text : `${visible.slice(0, Math.max(0, width - 1))}…`;
}

/** Rows under headings, each column as wide as its widest cell; the last column is not padded. */
export function table(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  paint: Terminal['paint'],
): string {
  const width = (text: string) => stripVTControlCharacters(text).length;
  const widths = headings.map((heading, at) =>
    Math.max(width(heading), ...rows.map((row) => width(row[at] ?? ''))),
  );
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, at) =>
        at === cells.length - 1 ? cell : cell + ' '.repeat((widths[at] ?? 0) - width(cell)),
      )
      .join('  ')
      .trimEnd();
  return [paint('dim', line(headings)), ...rows.map(line)].join('\n');
}
