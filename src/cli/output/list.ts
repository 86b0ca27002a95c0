/** Lists: each is declared once, and shown in every format from that. Equal rows of a table can share one row. */
import { columnsIn } from '../../text.ts';
import { exit } from '../exit.ts';
import { type OutputOption, show } from './show.ts';
import { type Shrink, type Terminal, table } from './terminal.ts';

type CellText = string | number | null | undefined;

/** A list: its table at a terminal, and its columns as CSV. */
export interface List<Row> {
  /** The columns of the table: the head of each, and its cell of a row. */
  table: Readonly<Record<string, (row: Row, terminal: Terminal) => CellText>>;
  shrink?: Shrink;
  /** The columns of CSV, several in one text: see `Shown`. */
  csv?: readonly string[];
}

export interface Listed<Row> {
  rows: readonly Row[];
  /** For `json` and `yaml`, where that is not the rows. */
  value?: unknown;
  /** For `jsonl` and `csv`, where these are not the rows of the table. */
  lines?: readonly object[];
  /** What people read in place of a table without rows. */
  none?: string;
  /** What people read above the table, or below it. */
  above?(): void;
  below?(): void;
  /** Set when there are more rows: `There are older lines.` */
  more?: string | false;
}

/** Shows a list in the format that the person chose. */
export async function showList<Row extends object>(
  terminal: Terminal,
  options: OutputOption,
  list: List<Row>,
  { rows, lines = rows, value = lines, none, above, below, more }: Listed<Row>,
): Promise<number> {
  const csv = list.csv && columnsIn(...list.csv);
  const text = () => {
    above?.();
    if (rows.length === 0 && none !== undefined) {
      terminal.message(none);
      return;
    }
    terminal.data(listTable(list, rows, terminal));
    below?.();
  };
  await show(terminal, options, { value, rows: lines, ...(csv && { columns: csv }), text });
  if (more) terminal.message(`${more} Use --limit to show more than ${rows.length}.`);
  return exit.ok;
}

/** The rows as a table. */
export function listTable<Row>(
  { table: columns, shrink = [] }: List<Row>,
  rows: readonly Row[],
  terminal: Terminal,
): string {
  const cells = rows.map((row) => Object.values(columns).map((cell) => String(cell(row, terminal) ?? '')));
  return table(Object.keys(columns), cells, terminal.paint, { columns: terminal.dataColumns, shrink });
}

/** Reads a list page by page, until it ends or has as many rows as wanted. */
export async function readPages<Row>(
  wanted: number,
  read: (page: { limit: number; after: string | undefined }) => Promise<{ rows: Row[]; next: string | null }>,
): Promise<{ rows: Row[]; next: string | null }> {
  const rows: Row[] = [];
  let next: string | null = null;
  do {
    const page = await read({ limit: wanted - rows.length, after: next ?? undefined });
    rows.push(...page.rows);
    next = page.next;
  } while (next !== null && rows.length < wanted);
  return { rows, next };
}

/** The maximum number of equal rows that are shown separately. */
const MAX_EQUAL = 5;

/**
 * Each row has a target, its label, and other cells. When the cells before `end` are equal in more than five rows,
 * these become one row at the place of the first; a later cell that differs between them is that of the first, and says
 * so. `folded` is true when there is such a row.
 */
export function foldSame(
  rows: readonly string[][],
  end = Number.POSITIVE_INFINITY,
): { rows: string[][]; folded: boolean } {
  const keyOf = (row: string[]) => row.slice(2, end).join('\n');
  const groups = new Map<string, string[][]>();
  for (const row of rows) groups.set(keyOf(row), [...(groups.get(keyOf(row)) ?? []), row]);
  const groupOf = (row: string[]) => groups.get(keyOf(row)) ?? [];
  const isFolded = (row: string[]) => groupOf(row).length > MAX_EQUAL;
  return {
    folded: rows.some(isFolded),
    rows: rows.flatMap((row) => {
      if (!isFolded(row)) return [row];
      const group = groupOf(row);
      if (group[0] !== row) return [];
      const [, label = '', ...rest] = row;
      const cells = rest.map((cell, at) =>
        group.every((one) => one[at + 2] === cell) ? cell : `The first: ${cell}`,
      );
      return [[`${group.length} targets`, `${label} and ${group.length - 1} more`, ...cells]];
    }),
  };
}
