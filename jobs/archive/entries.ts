/**
 * The entries of a list, and the files that hold them: which time an entry has, how it is recognized, and its form
 * as a line of CSV or JSON.
 */
import type { List, Operator } from '../../src/contract/list.ts';
import { operationOf } from '../../src/contract/operations.ts';
import type { FieldTree } from '../../src/expression/fields.ts';
import { ArchiveError } from '../../src/job/archive/file.ts';
import type { CandidateList } from '../../src/job/candidates.ts';
import { fieldsOfItem } from '../../src/job/fields.ts';
import { isHolder } from '../../src/schema-issue.ts';
import { redact } from '../../src/secrets.ts';
import { parsedJson } from '../../src/text.ts';

// Comma-separated values (RFC 4180): a value with a comma, a quote or a line break is in double quotes.

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

/** What an entry belongs to: `{ site_id: 'site-0001', site: 'https://…' }`; nothing for a list of the account. */
export type Owner = Readonly<Record<string, string>>;

export interface Entry {
  /** Two readings of an entry have the same key. */
  key: string;
  /** Its time in milliseconds since 1970; NaN when the service does not show it. */
  at: number;
  /** What is stored: cells by their column, or the item itself. */
  content: Readonly<Record<string, unknown>>;
}

/** How the entries of one list are stored in a file. */
export interface Format {
  extension: string;
  entryOf(item: object, owner: Owner): Entry;
  /** @throws {ArchiveError} when the text is not what this format writes. */
  read(text: string): Entry[];
  write(entries: readonly Entry[]): string;
}

/** The field by whose time entries are selected and ordered, in the order in which they are tried. */
const timeFields = ['timestamp', 'performed_on', 'created_at'];
const bounds: readonly Operator[] = ['gte', 'lte'];

/** The field that says when an entry of this list was made; undefined when the list cannot be read by it. */
export function timeFieldOf(list: CandidateList): string | undefined {
  const query: List | undefined = operationOf(list).list;
  return timeFields.find((name) => {
    const filter = query && Object.hasOwn(query.filters, name) ? query.filters[name] : undefined;
    const isSelectable = bounds.every((bound) => filter?.operators.includes(bound));
    return filter?.kind === 'timestamp' && isSelectable && query?.sorts.includes(name);
  });
}

/** The name of a list in the archive: `activity-logs` for `listSiteActivityLogs`. */
export const folderOf = (list: CandidateList): string => operationOf(list).path.split('/').at(-1) ?? list;

/** Lines of comma-separated values. The columns are the fields of the contract, nested ones as `user.name`. */
export function csvOf(list: CandidateList, owned: readonly string[]): Format {
  const columns = columnsOf(list, owned);
  const entryOf = (cells: Readonly<Record<string, string>>): Entry => ({
    ...identityOf(cells, timeFieldOf(list)),
    content: cells,
  });
  return {
    extension: '.csv',
    entryOf: (item, owner) => entryOf({ ...owner, ...cellsOf(redact(item), fieldsOfItem(list), guarded) }),
    read(text) {
      const [head = [], ...rows] = parseCsv(text);
      if (rows.length > 0 && timeFieldOf(list) !== undefined && !head.includes(timeFieldOf(list) ?? ''))
        throw new ArchiveError(`its first line has no column "${timeFieldOf(list)}"`);
      return rows.map((cells) => entryOf(Object.fromEntries(head.map((name, i) => [name, cells[i] ?? '']))));
    },
    write(entries) {
      // A column that the service no longer shows is kept for the entries that have it.
      const older = entries.flatMap(({ content }) => Object.keys(content));
      const all = [...new Set([...columns, ...older])];
      return formatCsv([
        all,
        ...entries.map(({ content }) => all.map((name) => String(content[name] ?? ''))),
      ]);
    },
  };
}

/** Lines of JSON, each an entry as the service shows it. */
export function jsonLinesOf(list: CandidateList): Format {
  const entryOf = (content: Readonly<Record<string, unknown>>): Entry => ({
    ...identityOf(cellsOf(content, fieldsOfItem(list)), timeFieldOf(list)),
    content,
  });
  return {
    extension: '.jsonl',
    entryOf: (item, owner) => entryOf({ ...owner, ...(redact(item) as object) }),
    read: (text) =>
      text.split('\n').flatMap((line, index) => {
        if (line.trim() === '') return [];
        const content = parsedJson(line);
        if (!isHolder(content) || Array.isArray(content))
          throw new ArchiveError(`its line ${index + 1} is not a JSON object`);
        return entryOf(content as Record<string, unknown>);
      }),
    write: (entries) => entries.map(({ content }) => `${JSON.stringify(content)}\n`).join(''),
  };
}

/** The columns of a list: what it belongs to, its id and time, and its other fields in the contract's order. */
function columnsOf(list: CandidateList, owned: readonly string[]): string[] {
  const first = [...owned, 'id', timeFieldOf(list) ?? ''];
  const all = namesIn(fieldsOfItem(list));
  return [
    ...first.filter((name) => owned.includes(name) || all.includes(name)),
    ...all.filter((name) => !first.includes(name)),
  ];
}

const namesIn = (fields: FieldTree): string[] =>
  Object.entries(fields).flatMap(([name, field]) =>
    field.kind === 'object' && Object.keys(field.fields).length > 0
      ? namesIn(field.fields).map((inner) => `${name}.${inner}`)
      : [name],
  );

/** The cells of an item by their columns. What the service does not show, and null, are empty. */
function cellsOf(
  item: unknown,
  fields: FieldTree,
  guard: (text: string) => string = (text) => text,
): Record<string, string> {
  const cells: Record<string, string> = {};
  for (const [name, value] of Object.entries(isHolder(item) ? item : {})) {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (field?.kind === 'object' && Object.keys(field.fields).length > 0 && isHolder(value)) {
      for (const [inner, cell] of Object.entries(cellsOf(value, field.fields, guard)))
        cells[`${name}.${inner}`] = cell;
    } else if (field) cells[name] = cellOf(value, guard);
  }
  return cells;
}

function cellOf(value: unknown, guard: (text: string) => string): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return guard(value);
  return isHolder(value) ? JSON.stringify(value) : String(value);
}

/** Spreadsheets take such a text for a formula. With the apostrophe they show it as it is. */
const guarded = (text: string): string => (/^[=+\-@\t\r\n]/.test(text) ? `'${text}` : text);

/** The key and time of an entry. An entry without an id is known by its schedule and time, or by all it shows. */
function identityOf(cells: Readonly<Record<string, string>>, timeField = ''): Pick<Entry, 'key' | 'at'> {
  const at = Date.parse(cells[timeField] ?? '');
  const { id = '', 'auto_update_schedule.id': schedule = '' } = cells;
  // The service may show a time with milliseconds in one answer and without them in the next.
  const run = schedule === '' || Number.isNaN(at) ? undefined : `${schedule}@${Math.floor(at / 1000)}`;
  return { at, key: id === '' ? (run ?? JSON.stringify(cells)) : id };
}
