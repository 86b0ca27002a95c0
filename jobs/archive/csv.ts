/** Comma-separated values (RFC 4180): a value with a comma, a quote or a line break is in double quotes. */
import { ArchiveError } from '../../src/job/archive/file.ts';

export const formatCsv = (rows: readonly (readonly string[])[]): string =>
  rows.map((row) => `${row.map(quoted).join(',')}\r\n`).join('');

const quoted = (text: string): string =>
  /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;

/**
 * The rows of a text. Blank lines are no rows.
 *
 * @throws {ArchiveError} when a quote is not closed.
 */
export function parseCsv(given: string): string[][] {
  // A spreadsheet that saves the file again writes a byte order mark.
  const text = given.replace(/^\ufeff/, '');
  const rows: string[][] = [];
  let row: string[] = [];
  // One value, and the comma, the line break or the end after it.
  const value = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/y;
  while (value.lastIndex < text.length) {
    const at = value.lastIndex;
    const match = value.exec(text);
    if (!match) throw new ArchiveError(`it is not CSV: a quote in line ${lineAt(text, at)} is misplaced`);
    const [, inQuotes, plain = '', end] = match;
    row.push(inQuotes?.replaceAll('""', '"') ?? plain);
    if (end === ',' && value.lastIndex < text.length) continue;
    if (end === ',') row.push('');
    if (row.length > 1 || row[0] !== '') rows.push(row);
    row = [];
  }
  return rows;
}

const lineAt = (text: string, offset: number): number => text.slice(0, offset).split('\n').length;
