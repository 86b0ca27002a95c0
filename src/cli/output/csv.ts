/** Columns of CSV (`csvLine` writes the lines). */
import type { Cell } from '../../text.ts';

/** The fields of a row by column: those of an object inside it as `outer.inner`, a list as JSON. */
export function flatRow(row: object): Map<string, Cell> {
  const cells = new Map<string, Cell>();
  const add = (path: string, value: unknown): void => {
    if (isMap(value) && Object.keys(value).length > 0)
      for (const [key, inner] of Object.entries(value)) add(path === '' ? key : `${path}.${key}`, inner);
    else cells.set(path === '' ? 'value' : path, cellOf(value));
  };
  add('', row);
  return cells;
}

const isMap = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);

function cellOf(value: unknown): Cell {
  if (value === null || value === undefined) return null;
  if (typeof value === 'string' || typeof value === 'number') return value;
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === 'string'))
    return value.join(', ');
  return JSON.stringify(value);
}

/** The columns of all rows, in the order in which they first appear; those of one object stay together. */
export function keysOf(rows: readonly Map<string, Cell>[]): string[] {
  const keys = new Set<string>();
  for (const row of rows) for (const key of row.keys()) keys.add(key);
  const parts = new Map<string, string[]>();
  for (const key of keys) {
    const [head = key] = key.split('.');
    parts.set(head, [...(parts.get(head) ?? []), key]);
  }
  return [...parts.values()].flat();
}
