/** The code frame of a finding: its line, two lines before and after, and a caret under the place. */
import { scrub, secretKeys } from '../secrets.ts';
import { closest } from '../suggest.ts';
import { visible } from '../text.ts';
import { widthOf } from './width.ts';

const around = 2;
/** Of a longer line a part is shown: a file may be one line of a megabyte. */
const widest = 110;
const secret = new RegExp(`((?:^|[\\s{,"'])(?:${secretKeys.join('|')})["']?\\s*:\\s*)([^,}#]+)`, 'gi');
/** Any key with a plain value behind it. */
const pair = /((?:^|[\s{,"'])([\w-]+)["']?\s*:\s*)([^\s,{}[\]#][^,{}[\]#]*)/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters from a file must not reach a terminal.
const control = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

/**
 * Shows `text` around `line` and `column` (both from 1), with `length` carets under the place.
 *
 * Values of secret keys, misspelt keys included, are replaced by asterisks, except references to the
 * environment.
 */
export function frameOf(text: string, line: number, column: number, length = 1): string {
  const lines = text.split(/\r?\n/);
  const first = Math.max(1, line - around);
  const last = Math.min(lines.length, line + around);
  const digits = String(last).length;
  const crop = Math.max(0, column - 1 - Math.floor(widest / 2));
  const start = column > widest ? crop : 0;
  const shown: string[] = [];
  for (let at = first; at <= last; at++) {
    const source = printable(lines[at - 1] ?? '').slice(start, start + widest);
    const mark = at === line ? '>' : ' ';
    shown.push(`${mark} ${String(at).padStart(digits)} | ${visible(source, '\t')}`.trimEnd());
    if (at !== line) continue;
    const place = column - 1 - start;
    // A tab stays a tab, so that the caret stands under its place however wide tabs are shown.
    const indent = visible(source.slice(0, place), '\t')
      .split('\t')
      .map((part) => ' '.repeat(widthOf(part)))
      .join('\t');
    const carets = Math.max(1, widthOf(visible(source.slice(place, place + length))));
    shown.push(`  ${' '.repeat(digits)} | ${indent}${'^'.repeat(carets)}`);
  }
  return shown.join('\n');
}

/** Replaces secrets without changing the length, so that carets stay under their place. */
function printable(line: string): string {
  const hidden = line
    .replace(control, '·')
    .replace(secret, (all, key: string, value: string) =>
      value.includes('$') ? all : key + '*'.repeat(value.length),
    )
    .replace(pair, (all, before: string, key: string, value: string) =>
      value.includes('$') || !meansSecret(key) ? all : before + '*'.repeat(value.length),
    );
  const clean = scrub(hidden);
  return clean.length === hidden.length ? clean : clean.padEnd(hidden.length);
}

/** Whether a key names a secret, also when it is misspelt: then a frame is likely to show it. */
const meansSecret = (key: string): boolean => closest(key.toLowerCase(), secretKeys) !== undefined;
