/**
 * Texts from outside as they may be shown: nothing in them steers a terminal, hides, or changes the order in
 * which the rest is read.
 */

/**
 * Controls (C0, C1, escape sequences begin with one), characters that change the direction of text,
 * zero-width ones and all others that are not seen, separators of lines, and halves of surrogate pairs. Only
 * what chooses between the two forms of an emoji may stay.
 */
const unseen = /(?![\ufe0e\ufe0f])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

const escaped = (char: string): string =>
  Array.from(
    { length: char.length },
    (_, at) => `\\u${char.charCodeAt(at).toString(16).padStart(4, '0')}`,
  ).join('');

/**
 * The text with all that cannot be seen written out: `\u001b[31m`. What stands in `except` stays as it is.
 */
export const visible = (text: string, except = ''): string =>
  text.replace(unseen, (char) => (except.includes(char) ? char : escaped(char)));

/**
 * The text on one line, with all that cannot be seen written out. In time that grows with the length of the
 * text alone.
 */
export const visibleLine = (text: string): string =>
  visible(text.replace(/\s+/g, (gap) => (/[\t\r\n]/.test(gap) ? ' ' : gap)));

/** A value as JSON in which nothing stands that cannot be seen; it is read as the same value. */
export const visibleJson = (value: unknown, indent = 0): string =>
  visible(JSON.stringify(value, null, indent), '\n');
