/**
 * Where commands print: data goes to standard output, messages go to standard error. Colours are used only at
 * a terminal, and never with `NO_COLOR` (no-color.org).
 */
import { stripVTControlCharacters, styleText } from 'node:util';
import { scrub, withoutValues } from '../../secrets.ts';
import { visible, visibleJson, visibleLine } from '../../text.ts';
import { columnsOf, widthOf, wrapped } from '../../yaml/width.ts';
import type { Io } from '../io.ts';

type Style = Parameters<typeof styleText>[0];

export interface Terminal {
  /** What lies below: the streams, the variables and the signals of the process. */
  readonly io: Io;
  /**
   * Prints a line of data on standard output. With `values-only`, only secret values of this process are
   * hidden, not what merely looks like a secret: for help texts that contain names such as `token=`.
   */
  data(text: string, redact?: 'values-only'): void;
  /** Prints data as JSON, indented at a terminal. */
  json(value: unknown): void;
  /** Prints a line of data as it is. Only for text in which a format (`show.ts`) has escaped everything. */
  print(text: string): void;
  /** Prints a message on standard error. */
  message(text: string, redact?: 'values-only'): void;
  /** At a terminal, shows a status line that replaces the previous one. Elsewhere, does nothing. */
  show(text: string): void;
  /** Removes the status line. */
  clear(): void;
  paint(style: Style, text: string): string;
  /** Whether standard error is a terminal, so that a status line can be shown. */
  readonly interactive: boolean;
  readonly color: boolean;
  readonly columns: number;
  /** The width for data; undefined when standard output is not a terminal. */
  readonly dataColumns: number | undefined;
  /** The width for messages; undefined when standard error is not a terminal. */
  readonly messageColumns: number | undefined;
}

/** The terminal of a command line. */
export function openTerminal(io: Io): Terminal {
  const { env, stdout, stderr } = io;
  const interactive = stderr.isTTY === true && env['CI'] !== 'true';
  const wanted = !env['NO_COLOR'] && env['TERM'] !== 'dumb';
  const colorOn = (stream: { isTTY?: boolean }) => wanted && stream.isTTY === true;
  // Text is painted if either stream shows colours. They are removed for a stream that does not.
  const color = colorOn(stderr) || colorOn(stdout);
  const forStream = (stream: { isTTY?: boolean }, text: string, redact?: 'values-only') =>
    shownWith(
      colorOn(stream) ? '\u001b[$1m' : '',
      redact === 'values-only' ? withoutValues(text) : scrub(text),
    );
  let shown = false;
  const clear = () => {
    if (shown) stderr.write('\r\u001b[K');
    shown = false;
  };
  const columns = stderr.columns ?? 100;
  return {
    io,
    interactive,
    color,
    columns,
    dataColumns: stdout.isTTY ? stdout.columns : undefined,
    messageColumns: stderr.isTTY ? stderr.columns : undefined,
    data(text, redact) {
      clear();
      stdout.write(`${forStream(stdout, text, redact)}\n`);
    },
    json(value) {
      clear();
      stdout.write(`${visibleJson(value, stdout.isTTY ? 2 : 0)}\n`);
    },
    print(text) {
      clear();
      stdout.write(`${text}\n`);
    },
    message(text, redact) {
      clear();
      stderr.write(`${forStream(stderr, text, redact)}\n`);
    },
    show(text) {
      if (!interactive) return;
      stderr.write(`\r\u001b[K${forStream(stderr, cut(visibleLine(text), columns - 1))}`);
      shown = true;
    },
    clear,
    paint: (style, text) => (color ? marked(style, text) : text),
  };
}

/**
 * Only our own colours are printed, because text from files and from the service must not control the
 * terminal. Until a line is printed, our colours contain random numbers that no other text can contain.
 */
const MARK = [1, 2, 3].map(() => 1_000 + Math.floor(Math.random() * 9_000)).join(';');
const ours = new RegExp(`\\u001b\\[${MARK};(\\d+)m`, 'g');

function marked(style: Style, text: string): string {
  const [on = '', off = ''] = styleText(style, '|', { validateStream: false }).split('|');
  return [on, text, off].map((part, at) => (at === 1 ? part : part.replaceAll('[', `[${MARK};`))).join('');
}

/**
 * Escapes everything but our own colours. The only place where text from outside reaches the terminal. `$1`
 * in `color` is replaced by the number of the colour.
 */
function shownWith(color: string, text: string): string {
  const parts = text.split(ours);
  return parts.map((part, at) => (at % 2 === 0 ? visible(part, '\n\t') : color.replace('$1', part))).join('');
}

/** The text of a cell on one line. */
const cellOf = (text: string): string =>
  text
    .split(ours)
    .map((part, at) => (at % 2 === 0 ? visibleLine(part) : `\u001b[${MARK};${part}m`))
    .join('');

/** The first `width` columns. A status line that wraps could not be replaced. */
function cut(text: string, width: number): string {
  return widthOf(text) <= width
    ? text
    : `${columnsOf(stripVTControlCharacters(text), 0, Math.max(0, width - 1))}…`;
}

/** How a table that is too wide shrinks, in this order: `detail: 16` cuts that column to 16, `detail: 0` hides it. */
export type Shrink = readonly `${string}: ${number}`[];

interface Fit {
  columns: number | undefined;
  shrink: Shrink;
}

const GAP = 2;
/**
 * The maximum width to which a column is padded. One label of thousands of characters would widen all rows.
 */
const MAX_PADDING = 80;

/**
 * Formats rows under headings. Each column is as wide as its widest cell. Hidden columns are named under the
 * table.
 */
export function table(
  headings: readonly string[],
  cells: readonly (readonly string[])[],
  paint: Terminal['paint'],
  fit?: Fit,
): string {
  const rows = cells.map((row) => row.map(cellOf));
  const natural = headings.map((heading, at) =>
    Math.max(widthOf(heading), ...rows.map((row) => widthOf(row[at] ?? ''))),
  );
  const widths = fitted(natural, headings, fit);
  const last = widths.findLastIndex((width) => width > 0);
  const line = (cells: readonly string[]) =>
    cells
      .flatMap((cell, at) => {
        const width = widths[at] ?? 0;
        if (width === 0 && (natural[at] ?? 0) > 0) return [];
        const shown = cut(cell, width);
        return [at === last ? shown : shown + ' '.repeat(padding(width, shown))];
      })
      .join(' '.repeat(GAP))
      .trimEnd();
  const hidden = headings.filter((_, at) => widths[at] === 0 && (natural[at] ?? 0) > 0);
  const notice = `(hidden, too narrow: ${hidden.join(', ')}; --json shows all)`;
  return [
    paint('dim', line(headings)),
    ...rows.map(line),
    ...(hidden.length === 0 ? [] : [paint('dim', wrapped(notice, fit?.columns))]),
  ].join('\n');
}

const padding = (width: number, shown: string): number =>
  Math.max(0, Math.min(width, MAX_PADDING) - widthOf(shown));

/** The widths with which the table fits, or comes closest. */
function fitted(natural: readonly number[], headings: readonly string[], fit: Fit | undefined): number[] {
  const widths = [...natural];
  if (fit?.columns === undefined) return widths;
  for (const step of fit.shrink) {
    const total = widths.reduce((sum, width) => sum + (width > 0 ? width + GAP : 0), -GAP);
    const over = total - fit.columns;
    if (over <= 0) break;
    const [, head = '', least] = /^(.*): (\d+)$/.exec(step) ?? [];
    const [column, min] = [headings.indexOf(head), Number(least)];
    const width = widths[column] ?? 0;
    widths[column] = min === 0 ? 0 : Math.max(Math.min(width, min), width - over);
  }
  return widths;
}
