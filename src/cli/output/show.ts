/**
 * The one place that turns what a command shows into the format of `--output`. A command gives the whole as a
 * value, the part of it that is a list as rows, and the text for people.
 */
import { redact } from '../../secrets.ts';
import { type Cell, csvLine, flatRow, visible, visibleJson } from '../../text.ts';
import { type Terminal, table } from './terminal.ts';

export const formats = ['table', 'json', 'jsonl', 'csv', 'yaml'] as const;
export type Format = (typeof formats)[number];
/** The formats with one line for each item, which can be printed while the items are read. */
export const lineFormats = ['csv', 'jsonl'] as const satisfies Format[];

/** What the option `--output` gives to a command. */
export interface OutputOption {
  output?: Format | undefined;
}

export interface Shown {
  /** For `json` and `yaml`: everything. */
  value: unknown;
  /** For `jsonl` and `csv`, one line each. Left out: the value, or each element if it is an array. */
  rows?: readonly object[] | AsyncIterable<object>;
  /**
   * The columns of `csv`; `counts.planned` is a field of an object. Left out: every field of every row. Rows
   * that are read while they are printed need it.
   */
  columns?: readonly string[];
  /** For `table`: prints it for people. */
  text(): void;
  /** Only for what is no secret by its nature: answers that a person requested, and schemas. */
  keepKeys?: true;
}

/** Whether the output is for people, so that sentences around the data help. */
export const isForPeople = ({ output }: OutputOption): boolean => (output ?? 'table') === 'table';

/** Prints what a command shows in the format that the person chose. Secrets are hidden in every format. */
export async function show(
  terminal: Terminal,
  { output = 'table' }: OutputOption,
  { value, rows, columns, text, keepKeys }: Shown,
): Promise<void> {
  const clean = <T>(one: T): T => (keepKeys ? one : (redact(one) as T));
  const lines: readonly object[] | AsyncIterable<object> = rows ?? listOf(value);
  switch (output) {
    case 'table':
      return text();
    case 'json':
      return terminal.json(clean(value));
    case 'yaml':
      return terminal.print(await yamlOf(clean(value)));
    case 'jsonl':
      for await (const row of lines) terminal.print(visibleJson(clean(row)));
      return;
    case 'csv':
      return printCsv(terminal, lines, columns, clean);
  }
}

const listOf = (value: unknown): object[] => (Array.isArray(value) ? value : [value as object]);

async function printCsv(
  terminal: Terminal,
  rows: readonly object[] | AsyncIterable<object>,
  columns: readonly string[] | undefined,
  clean: (row: object) => object,
): Promise<void> {
  // The terminal adds the LF of the line break, which is CRLF.
  const line = (cells: readonly (string | number | null)[]) => terminal.print(`${csvLine(cells)}\r`);
  const cellsOf = (row: ReturnType<typeof flatRow>, keys: readonly string[]) =>
    keys.map((key) => row.get(key) ?? null);
  if (columns) {
    line(columns);
    for await (const row of rows) line(cellsOf(flatRow(clean(row)), columns));
    return;
  }
  const flat: ReturnType<typeof flatRow>[] = [];
  for await (const row of rows) flat.push(flatRow(clean(row)));
  const keys = keysOf(flat);
  if (keys.length > 0) line(keys);
  for (const row of flat) line(cellsOf(row, keys));
}

/** The columns of all rows, in the order in which they first appear; those of one object stay together. */
function keysOf(rows: readonly Map<string, Cell>[]): string[] {
  const keys = new Set<string>();
  for (const row of rows) for (const key of row.keys()) keys.add(key);
  const parts = new Map<string, string[]>();
  for (const key of keys) {
    const [head = key] = key.split('.');
    parts.set(head, [...(parts.get(head) ?? []), key]);
  }
  return [...parts.values()].flat();
}

/** Rows of any shape as a table. What a terminal has no room for is hidden from the right. */
export function rowTable(rows: readonly object[], terminal: Terminal): string {
  const flat = rows.map(flatRow);
  const keys = keysOf(flat);
  const cells = flat.map((row) => keys.map((key) => String(row.get(key) ?? '')));
  const shrink = keys
    .slice(1)
    .map((key) => `${key}: 0` as const)
    .reverse();
  return table(keys, cells, terminal.paint, { columns: terminal.dataColumns, shrink });
}

/**
 * A value as YAML without invisible characters; it is parsed to the same value. YAML knows the escapes only
 * inside double quotes.
 */
export async function yamlOf(value: unknown): Promise<string> {
  const { Document, visit, Scalar } = await import('yaml');
  // Through JSON, so that YAML shows the same as JSON: no undefined, dates as text.
  const document = new Document(JSON.parse(JSON.stringify(value ?? null)), {
    aliasDuplicateObjects: false,
    // Quotes what only YAML 1.1 reads as something else than text: yes, 02:00.
    compat: 'yaml-1.1',
  });
  visit(document, {
    Scalar(_key, node) {
      if (typeof node.value === 'string' && visible(node.value, '\n') !== node.value)
        node.type = Scalar.QUOTE_DOUBLE;
    },
  });
  return visible(document.toString({ lineWidth: 0, flowCollectionPadding: true }).trimEnd(), '\n');
}
