/**
 * What a command prints and where: data goes to standard output, everything a person reads besides to
 * standard error. Colours only where a terminal shows them, and never with `NO_COLOR` (no-color.org).
 */
import { randomInt } from 'node:crypto';
import { stripVTControlCharacters, styleText } from 'node:util';
import { scrub, withoutValues } from '../../secrets.ts';
import { visible, visibleJson, visibleLine } from '../../text.ts';
import { columnsOf, widthOf, wrapped } from '../../yaml/width.ts';

type Style = Parameters<typeof styleText>[0];

export interface Terminal {
  /**
   * Data: a line on standard output. In a text of `ours`, the name of a secret may stand before something
   * else.
   */
  data(text: string, redact?: 'values-only'): void;
  /** Data as JSON, indented for a person at a terminal. */
  json(value: unknown): void;
  /** A message, on standard error. */
  message(text: string, redact?: 'values-only'): void;
  /** Replaces the last line shown by `show` at a terminal; elsewhere nothing is shown. */
  show(text: string): void;
  /** Takes away what `show` left. */
  clear(): void;
  paint(style: Style, text: string): string;
  /** Whether standard error is a terminal: progress may move. */
  readonly interactive: boolean;
  readonly color: boolean;
  readonly columns: number;
  /** How wide data may be: at a terminal that shows it, and nowhere else. */
  readonly dataColumns: number | undefined;
  /** How wide messages may be: at a terminal, and nowhere else. */
  readonly messageColumns: number | undefined;
}

/** The process's own terminal. */
export function openTerminal(): Terminal {
  const interactive = process.stderr.isTTY === true && process.env['CI'] !== 'true';
  const wanted = !process.env['NO_COLOR'] && process.env['TERM'] !== 'dumb';
  const colorOn = (stream: { isTTY?: boolean }) => wanted && stream.isTTY === true;
  // Painted for either stream; what goes to one that is no terminal loses its colours on the way out.
  const color = colorOn(process.stderr) || colorOn(process.stdout);
  const forStream = (stream: { isTTY?: boolean }, text: string, redact?: 'values-only') =>
    shownWith(
      colorOn(stream) ? '\u001b[$1m' : '',
      redact === 'values-only' ? withoutValues(text) : scrub(text),
    );
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
    dataColumns: process.stdout.isTTY ? process.stdout.columns : undefined,
    messageColumns: process.stderr.isTTY ? process.stderr.columns : undefined,
    data(text, redact) {
      clear();
      process.stdout.write(`${forStream(process.stdout, text, redact)}\n`);
    },
    json(value) {
      clear();
      process.stdout.write(`${visibleJson(value, process.stdout.isTTY ? 2 : 0)}\n`);
    },
    message(text, redact) {
      clear();
      process.stderr.write(`${forStream(process.stderr, text, redact)}\n`);
    },
    show(text) {
      if (!interactive) return;
      process.stderr.write(`\r\u001b[K${forStream(process.stderr, cut(visibleLine(text), columns - 1))}`);
      shown = true;
    },
    clear,
    paint: (style, text) => (color ? marked(style, text) : text),
  };
}

/**
 * Only our own colours pass: what comes from files and from the service must not steer the terminal. Until a
 * line is printed, a colour of ours carries numbers that nobody else knows.
 */
const MARK = [1, 2, 3].map(() => randomInt(1_000, 10_000)).join(';');
const ours = new RegExp(`\\u001b\\[${MARK};(\\d+)m`, 'g');

function marked(style: Style, text: string): string {
  const [on = '', off = ''] = styleText(style, '|', { validateStream: false }).split('|');
  return [on, text, off].map((part, at) => (at === 1 ? part : part.replaceAll('[', `[${MARK};`))).join('');
}

/**
 * The one place where outside text enters a line of a terminal; `$1` in `color` is the number of a colour of
 * ours.
 */
function shownWith(color: string, text: string): string {
  const parts = text.split(ours);
  return parts.map((part, at) => (at % 2 === 0 ? visible(part, '\n\t') : color.replace('$1', part))).join('');
}

/** The text of a cell, on one line. */
const cellOf = (text: string): string =>
  text
    .split(ours)
    .map((part, at) => (at % 2 === 0 ? visibleLine(part) : `\u001b[${MARK};${part}m`))
    .join('');

/** The first `width` columns; a line that wraps could not be replaced. */
function cut(text: string, width: number): string {
  return widthOf(text) <= width
    ? text
    : `${columnsOf(stripVTControlCharacters(text), 0, Math.max(0, width - 1))}…`;
}

/**
 * What a table gives up where it is too wide, in this order: a column is cut to `min`, or left out when
 * that is 0.
 */
export interface Fit {
  columns: number | undefined;
  shrink: readonly { column: number; min: number }[];
}

const GAP = 2;
/** No column is padded beyond that: one label of thousands of characters would stretch every row. */
const MAX_PADDING = 80;

/**
 * Rows under headings, each column as wide as its widest cell; the last column is not padded. Columns that
 * had to be left out are named under the table.
 */
export function table(
  headings: readonly string[],
  cells: readonly (readonly string[])[],
  paint: Terminal['paint'],
  fit?: Fit,
): string {
  const rows = cells.map((row) => row.map(cellOf));
  const wished = headings.map((heading, at) =>
    Math.max(widthOf(heading), ...rows.map((row) => widthOf(row[at] ?? ''))),
  );
  const widths = fitted(wished, fit);
  const last = widths.findLastIndex((width) => width > 0);
  const line = (cells: readonly string[]) =>
    cells
      .flatMap((cell, at) => {
        const width = widths[at] ?? 0;
        if (width === 0 && (wished[at] ?? 0) > 0) return [];
        const shown = cut(cell, width);
        return [at === last ? shown : shown + ' '.repeat(padding(width, shown))];
      })
      .join(' '.repeat(GAP))
      .trimEnd();
  const hidden = headings.filter((_, at) => widths[at] === 0 && (wished[at] ?? 0) > 0);
  const notice = `(not shown, too narrow: ${hidden.join(', ')}; --json has all)`;
  return [
    paint('dim', line(headings)),
    ...rows.map(line),
    ...(hidden.length === 0 ? [] : [paint('dim', wrapped(notice, fit?.columns))]),
  ].join('\n');
}

const padding = (width: number, shown: string): number =>
  Math.max(0, Math.min(width, MAX_PADDING) - widthOf(shown));

/** The widths with which a table fits, or as nearly as it can. */
function fitted(wished: readonly number[], fit: Fit | undefined): number[] {
  const widths = [...wished];
  if (fit?.columns === undefined) return widths;
  for (const { column, min } of fit.shrink) {
    const total = widths.reduce((sum, width) => sum + (width > 0 ? width + GAP : 0), -GAP);
    const over = total - fit.columns;
    if (over <= 0) break;
    const width = widths[column] ?? 0;
    widths[column] = min === 0 ? 0 : Math.max(Math.min(width, min), width - over);
  }
  return widths;
}
