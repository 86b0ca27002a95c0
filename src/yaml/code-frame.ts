/** The code frame of a finding: the line it is about, two lines around it, and a caret under the place. */
import { scrub, secretKeys } from '../secrets.ts';
import { closest } from '../suggest.ts';

const around = 2;
/** A longer line is shown in part: somebody's file may be one line of a megabyte. */
const widest = 110;
const secret = new RegExp(`((?:^|[\\s{,"'])(?:${secretKeys.join('|')})["']?\\s*:\\s*)([^,}#]+)`, 'gi');
/** Any key with a plain value behind it. */
const pair = /((?:^|[\s{,"'])([\w-]+)["']?\s*:\s*)([^\s,{}[\]#][^,{}[\]#]*)/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters from a file must not reach a terminal.
const control = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

/**
 * Shows `text` around `line` and `column` (both from 1), with `length` carets under the place.
 *
 * Values of secret keys, misspelt ones included, are blotted out, except those that are taken from the
 * environment: a frame is printed.
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
    shown.push(`${mark} ${String(at).padStart(digits)} | ${source}`.trimEnd());
    if (at !== line) continue;
    // A tab stays a tab, so that the caret stands under its place however wide tabs are shown.
    const indent = source.slice(0, column - 1 - start).replace(/[^\t]/g, ' ');
    const carets = Math.max(1, Math.min(length, source.length - indent.length));
    shown.push(`  ${' '.repeat(digits)} | ${indent}${'^'.repeat(carets)}`);
  }
  return shown.join('\n');
}

/** Blots out secrets without changing the length, so that carets stay where they belong. */
function printable(line: string): string {
  const blotted = line
    .replace(control, '·')
    .replace(secret, (all, key: string, value: string) =>
      value.includes('$') ? all : key + '*'.repeat(value.length),
    )
    .replace(pair, (all, before: string, key: string, value: string) =>
      value.includes('$') || !meansSecret(key) ? all : before + '*'.repeat(value.length),
    );
  const clean = scrub(blotted);
  return clean.length === blotted.length ? clean : clean.padEnd(blotted.length);
}

/** Whether a key holds a secret, or was meant to: a misspelt one is just what frames are shown for. */
const meansSecret = (key: string): boolean => closest(key.toLowerCase(), secretKeys) !== undefined;
