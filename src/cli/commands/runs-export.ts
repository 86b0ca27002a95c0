import { type TargetReport, toTargetReport } from '../../run/report.ts';
import { visible, visibleJson } from '../../text.ts';
import { type GlobalOptions, settingsOf, withRecords } from '../context.ts';
import { exit } from '../exit.ts';
import type { Terminal } from '../output/terminal.ts';
import { runNamed } from '../run-id.ts';

const formats = ['csv', 'jsonl'] as const;

/** The CSV columns, in this order. JSON lines have all fields. */
const columns = [
  'id',
  'label',
  'outcome',
  'reason',
  'detail',
  'task_id',
  'attempts',
  'started_at',
  'finished_at',
] as const satisfies (keyof TargetReport)[];

/** Prints the targets of a run, one per line. Reads and writes page by page. */
export async function exportRun(
  terminal: Terminal,
  word: string,
  { format, ...options }: GlobalOptions & { format: (typeof formats)[number] },
): Promise<number> {
  return withRecords(options, settingsOf(options), async ({ records }) => {
    const run = await runNamed(records, word);
    if (format === 'csv') terminal.data(csvLine(['run', ...columns]));
    for await (const target of records.targets.all(run.id)) {
      const report = toTargetReport(target);
      if (format === 'csv') terminal.data(csvLine([run.id, ...columns.map((column) => report[column])]));
      else terminal.data(visibleJson({ run: run.id, ...report }));
    }
    return exit.ok;
  });
}

/**
 * One CSV line (RFC 4180). A text that a spreadsheet might execute as a formula gets an apostrophe in front,
 * because labels and messages come from the sites.
 */
export function csvLine(cells: readonly (string | number | null)[]): string {
  return cells
    .map((cell) => {
      if (typeof cell === 'number') return String(cell);
      const text = visible(cell ?? '', '\t\r\n').replace(/^(?=[=+\-@＝＋－＠\t\r\n])/, "'");
      return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
    })
    .join(',');
}
