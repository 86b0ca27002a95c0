/** Tables of pages that are made from the code; the pages hold the rest of their text themselves. */

/** The line of a table with these cells. */
export const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

/** The page with these rows in the table that begins with the line `head`, or is the next one below such a line. */
export function withRows(page: string, head: string, rows: readonly string[]): string {
  const start = head.replace(/[^\w\s]/g, '\\$&');
  const table = new RegExp(`^(${start}(?:.*\\n)+?\\|[-| ]+\\|\\n)(?:\\|.*\\n)*`, 'm');
  if (!table.test(page)) throw new Error(`The page has no table with ${head}`);
  return page.replace(table, (_, top: string) => top + rows.map((line) => `${line}\n`).join(''));
}
