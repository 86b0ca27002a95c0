/** The code frame of a finding: its line, two lines before and after, and a caret under the position. */
import { scrubForeign, secretKeys } from '../secrets.ts';
import { closest } from '../suggest.ts';
import { visible } from '../text.ts';
import { widthOf } from './width.ts';

const CONTEXT_LINES = 2;
/** Of a longer line, only a part is shown: a file may consist of one line of a megabyte. */
const MAX_COLUMNS = 110;
const secretNames = secretKeys.join('|');
const secret = new RegExp(`((?:^|[\\s{,"'])(?:${secretNames})["']?\\s*:\\s*)([^,}#]+)`, 'gi');
/** Any key with a plain value. */
const pair = /((?:^|[\s{,"'])([\w-]+)["']?\s*:\s*)([^\s,{}[\]#][^,{}[\]#]*)/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters from a file must not reach a terminal.
const control = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

/**
 * Shows `text` around `line` and `column` (both from 1), with `length` carets under the position.
 *
 * Values of secret keys, also of misspelled ones, are replaced by asterisks, except references to variables.
 */
export function frameOf(text: string, line: number, column: number, length = 1): string {
  const lines = text.split(/\r?\n/);
  const first = Math.max(1, line - CONTEXT_LINES);
  const last = Math.min(lines.length, line + CONTEXT_LINES);
  const digits = String(last).length;
  const crop = Math.max(0, column - 1 - Math.floor(MAX_COLUMNS / 2));
  const start = column > MAX_COLUMNS ? crop : 0;
  const shown: string[] = [];
  for (let at = first; at <= last; at++) {
    const source = printable(lines[at - 1] ?? '').slice(start, start + MAX_COLUMNS);
    const mark = at === line ? '>' : ' ';
    shown.push(`${mark} ${String(at).padStart(digits)} | ${visible(source, '\t')}`.trimEnd());
    if (at !== line) continue;
    const place = column - 1 - start;
    // Tabs stay tabs, so that the caret is at its position whatever the tab width is.
    const indent = visible(source.slice(0, place), '\t')
      .split('\t')
      .map((part) => ' '.repeat(widthOf(part)))
      .join('\t');
    const carets = Math.max(1, widthOf(visible(source.slice(place, place + length))));
    shown.push(`  ${' '.repeat(digits)} | ${indent}${'^'.repeat(carets)}`);
  }
  return shown.join('\n');
}

/** Replaces secrets without changing the length, so that carets stay at their position. */
function printable(line: string): string {
  const hidden = line
    .replace(control, '·')
    .replace(secret, (all, key: string, value: string) =>
      value.includes('$') ? all : key + '*'.repeat(value.length),
    )
    .replace(pair, (all, before: string, key: string, value: string) =>
      value.includes('$') || !isLikelySecret(key) ? all : before + '*'.repeat(value.length),
    );
  const clean = scrubForeign(hidden);
  return clean.length === hidden.length ? clean : clean.padEnd(hidden.length);
}

/** Whether a key names a secret. Also true for a misspelled key, because a frame is likely to show it. */
const isLikelySecret = (key: string): boolean => closest(key.toLowerCase(), secretKeys) !== undefined;
