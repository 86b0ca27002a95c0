/**
 * Reads a file of the operator as text: a regular file of limited size, in UTF-8, without control characters. And
 * shows places in it.
 */
import { readFileSync, statSync } from 'node:fs';
import type { Range, Scalar } from 'yaml';
import { fileFaultOf, systemCodeOf } from '../errors.ts';
import { scrubForeign, secretKeys } from '../secrets.ts';
import { closest } from '../suggest.ts';
import { visible } from '../text.ts';
import { type Diagnostic, fileDiagnostic } from './diagnostic.ts';
import { widthOf } from './width.ts';

// The code frame of a finding: its line, two lines before and after, and a caret under the position.

const CONTEXT_LINES = 2;
/** Of a longer line, only a part is shown: a file may consist of one line of a megabyte. */
const MAX_COLUMNS = 110;
const secretNames = secretKeys.join('|');
const secret = new RegExp(`((?:^|[\\s{,"'])(?:${secretNames})["']?\\s*:\\s*)([^,}#]+)`, 'gi');
/** Any key with a plain value. */
const pair = /((?:^|[\s{,"'])([\w-]+)["']?\s*:\s*)([^\s,{}[\]#][^,{}[\]#]*)/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: unprintable characters from a file must not reach a terminal.
const unprintable = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

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
    .replace(unprintable, '·')
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

const MAX_BYTES = 1024 * 1024;
/** Control characters except tab, line feed and carriage return. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the expression searches for them.
const control = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u0084\u0086-\u009f]/;

/** Reads a file, or returns why it cannot be read. Never throws, and never waits for a pipe. */
export function readTextFile(file: string): { text: string } | { findings: Diagnostic[] } {
  const reject = (message: string) => ({ findings: [fileDiagnostic(file, message)] });
  try {
    const stats = statSync(file);
    if (stats.isDirectory()) return reject('This is a folder, not a file.');
    if (!stats.isFile()) return reject('This is a pipe, a socket or a device, not a regular file.');
    if (stats.size > MAX_BYTES) return reject('The file is larger than 1 MiB, the maximum size.');
    return decoded(file, readFileSync(file));
  } catch (error) {
    const isMissing = systemCodeOf(error) === 'ENOENT';
    return reject(isMissing ? 'The file does not exist.' : `The file cannot be read: ${fileFaultOf(error)}.`);
  }
}

function decoded(file: string, bytes: Buffer): { text: string } | { findings: Diagnostic[] } {
  const place = (text: string, offset: number, message: string, suggestion: string) => {
    const before = text.slice(0, offset).split('\n');
    const [line, column] = [before.length, (before.at(-1) ?? '').length + 1];
    return {
      findings: [{ file, line, column, path: '', message, suggestion, frame: frameOf(text, line, column) }],
    };
  };
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    const readable = bytes.toString('utf8');
    const at = Math.max(0, readable.indexOf('\ufffd'));
    return place(readable, at, 'The file is not UTF-8 text.', 'save it as UTF-8');
  }
  const at = text.search(control);
  if (at < 0) return { text };
  const name = `U+${text.charCodeAt(at).toString(16).toUpperCase().padStart(4, '0')}`;
  return place(text, at, `The file contains a control character (${name}).`, 'remove it');
}

// Maps a character of a value to its offset in the YAML file.

/**
 * Returns the offset in `text` of character `index` of the value. If the value contains escapes, returns the
 * start of the scalar.
 *
 * Indentation, folding and quotes only add or change white space. So comparing both texts in parallel,
 * without white space, finds each character.
 */
export function sourceOffset(text: string, scalar: Scalar & { range: Range }, index: number): number {
  const [start, end] = scalar.range;
  const source = text.slice(start, end);
  const value = String(scalar.value);
  if (scalar.type === 'QUOTE_DOUBLE' && /\\[^"\\]/.test(source)) return start;
  const lastAt = value.trimEnd().length;
  let at = contentStart(source, scalar.type);
  for (let i = 0; i < value.length; i++) {
    const wanted = value.charAt(i);
    const blank = /\s/.test(wanted);
    if (!blank) {
      const found = source.indexOf(wanted, at);
      if (found < 0) return start;
      at = found;
    }
    if (i >= Math.min(index, lastAt)) break;
    if (!blank) at += wanted === "'" && scalar.type === 'QUOTE_SINGLE' ? 2 : 1;
    else if (/\s/.test(source.charAt(at))) at++;
  }
  return start + at;
}

function contentStart(source: string, type: Scalar['type']): number {
  if (type === 'QUOTE_DOUBLE' || type === 'QUOTE_SINGLE') return 1;
  const isBlock = type === 'BLOCK_LITERAL' || type === 'BLOCK_FOLDED';
  return isBlock ? source.indexOf('\n') + 1 : 0;
}
