/**
 * Text that people read: counts with their noun, and text from outside made safe to show. Nothing in it
 * controls a terminal, is invisible, or changes the reading order of the rest.
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

/** A value as JSON without invisible characters; it is parsed to the same value. */
export const visibleJson = (value: unknown, indent = 0): string =>
  visible(JSON.stringify(value, null, indent), '\n');
