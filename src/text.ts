/**
 * Text that people read: counts with their noun, and text from outside made safe to show. Nothing in it
 * controls a terminal, is invisible, or changes the reading order of the rest. Comma-separated values, too.
 */

/** `1 request`, `2 requests`, for words that take an s. */
export const countOf = (count: number, word: string): string => `${count} ${word}${count === 1 ? '' : 's'}`;

/**
 * Control characters (escape sequences begin with one), characters that change the direction of text,
 * zero-width and other invisible ones, line separators, and halves of surrogate pairs. Emoji variation
 * selectors are allowed.
 */
const unseen = /(?![\ufe0e\ufe0f])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

const escaped = (char: string): string =>
  Array.from(
    { length: char.length },
    (_, at) => `\\u${char.charCodeAt(at).toString(16).padStart(4, '0')}`,
  ).join('');

/** The text with all invisible characters escaped: `\u001b[31m`. Those in `except` stay. */
export const visible = (text: string, except = ''): string =>
  text.replace(unseen, (char) => (except.includes(char) ? char : escaped(char)));

/** The text on one line, with all invisible characters escaped. Runs in linear time. */
export const visibleLine = (text: string): string =>
  visible(text.replace(/\s+/g, (gap) => (/[\t\r\n]/.test(gap) ? ' ' : gap)));

/** Several texts, each on a line of its own and on no other, whatever line breaks it has. */
export const linesOf = (texts: readonly string[]): string => texts.map(visibleLine).join('\n');

/** A value as JSON without invisible characters; it is parsed to the same value. */
export const visibleJson = (value: unknown, indent = 0): string =>
  visible(JSON.stringify(value, null, indent), '\n');

/** The value of a text in JSON; undefined when the text is not JSON. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The one text of a value as JSON: the keys of every object in order, and no spaces. What is equal has the same. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((one) => canonicalJson(one ?? null)).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const fields = Object.entries(value)
    .filter(([, field]) => field !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${canonicalJson(field)}`).join(',')}}`;
}

/** Whether a name is that of a pattern, in which `*` stands for any characters and `?` for one. */
export const matchesPattern = (name: string, pattern: string): boolean =>
  new RegExp(
    `^${pattern
      .replace(/[.+^${}()|[\]\\]/g, '\\$&')
      .replaceAll('*', '.*')
      .replaceAll('?', '.')}$`,
  ).test(name);

/** What a file begins with that Excel is to read as UTF-8. */
export const BYTE_ORDER_MARK = '\uFEFF';

export type Cell = string | number | null;

/**
 * One line of comma-separated values (RFC 4180), without its line break. A text that a spreadsheet might run as a
 * formula gets an apostrophe in front, because labels and messages come from the sites.
 */
export function csvLine(cells: readonly Cell[]): string {
  return cells
    .map((cell) => {
      if (typeof cell === 'number') return String(cell);
      const text = visible(cell ?? '', '\t\r\n').replace(/^(?=[=+\-@＝＋－＠\t\r\n])/, "'");
      return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
    })
    .join(',');
}

/** Columns by their names, several in one text. `counts.planned` is a field of an object. */
export const columnsIn = (...names: readonly string[]): string[] => names.flatMap((text) => text.split(' '));

/** The fields of a row by column: those of an object inside it as `outer.inner`, a list as JSON. */
export function flatRow(row: object): Map<string, Cell> {
  const cells = new Map<string, Cell>();
  const add = (path: string, value: unknown): void => {
    if (isMap(value) && Object.keys(value).length > 0)
      for (const [key, inner] of Object.entries(value)) add(path === '' ? key : `${path}.${key}`, inner);
    else cells.set(path === '' ? 'value' : path, cellOf(value));
  };
  add('', row);
  return cells;
}

const isMap = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);

function cellOf(value: unknown): Cell {
  if (value === null || value === undefined) return null;
  if (typeof value === 'string' || typeof value === 'number') return value;
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === 'string'))
    return value.join(', ');
  return JSON.stringify(value);
}
