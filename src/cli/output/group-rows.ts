/** Tables in which many rows say the same: one row that counts them, so that the others are seen. */

/** So many rows that say the same are read; more are counted. */
const MAX_SAME = 5;

/**
 * The rows, each of a target, its label, and what is said of it; more than five of which the same is said are
 * one row, at the place of the first. `folded` tells whether there is such a row.
 */
export function foldSame(rows: readonly string[][]): { rows: string[][]; folded: boolean } {
  const groups = new Map<string, string[][]>();
  for (const row of rows) {
    const says = row.slice(2).join('\n');
    groups.set(says, [...(groups.get(says) ?? []), row]);
  }
  const isMany = (row: string[]) => (groups.get(row.slice(2).join('\n'))?.length ?? 0) > MAX_SAME;
  return {
    folded: rows.some(isMany),
    rows: rows.flatMap((row) => {
      if (!isMany(row)) return [row];
      const group = groups.get(row.slice(2).join('\n')) ?? [];
      const [, label = '', ...says] = row;
      return group[0] === row
        ? [[`${group.length} targets`, `${label} and ${group.length - 1} more`, ...says]]
        : [];
    }),
  };
}
