/** Combines many equal rows of a table into one row with a count, so that the other rows are visible. */

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
