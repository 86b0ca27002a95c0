/** Combines many equal rows of a table into one row with a count, so that the other rows are visible. */

/** The maximum number of equal rows that are shown separately. */
const MAX_EQUAL = 5;

/**
 * Each row has a target, its label, and other cells. When the other cells are equal in more than five rows,
 * these become one row at the place of the first. `folded` is true when there is such a row.
 */
export function foldSame(rows: readonly string[][]): { rows: string[][]; folded: boolean } {
  const groups = new Map<string, string[][]>();
  for (const row of rows) {
    const key = row.slice(2).join('\n');
    groups.set(key, [...(groups.get(key) ?? []), row]);
  }
  const isFolded = (row: string[]) => (groups.get(row.slice(2).join('\n'))?.length ?? 0) > MAX_EQUAL;
  return {
    folded: rows.some(isFolded),
    rows: rows.flatMap((row) => {
      if (!isFolded(row)) return [row];
      const group = groups.get(row.slice(2).join('\n')) ?? [];
      const [, label = '', ...rest] = row;
      return group[0] === row
        ? [[`${group.length} targets`, `${label} and ${group.length - 1} more`, ...rest]]
        : [];
    }),
  };
}
