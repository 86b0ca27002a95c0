import { targetColumns } from '../../run/report.ts';
import { stepNamesOf } from '../../run/steps.ts';
import { type GlobalOptions, settingsOf, withRecords } from '../context.ts';
import { exit, UsageError } from '../exit.ts';
import { targetRow } from '../output/run-report.ts';
import { type Format, lineFormats, show } from '../output/show.ts';
import type { Terminal } from '../output/terminal.ts';
import { runNamed } from '../run-id.ts';

/** Prints the targets of a run, one per line. Reads and writes page by page, however many there are. */
export async function exportRun(
  terminal: Terminal,
  word: string,
  options: GlobalOptions & { output: Format },
): Promise<number> {
  requireLineFormat(word, options.output);
  return withRecords(terminal, options, settingsOf(terminal, options), async ({ records }) => {
    const run = await runNamed(records, word);
    const stepNames = stepNamesOf(run);
    async function* rows() {
      for await (const target of records.targets.all(run.id)) yield targetRow(run.id, target, stepNames);
    }
    await showLines(rows(), terminal, options.output);
    return exit.ok;
  });
}

/** @throws {UsageError} for a format without lines. */
export function requireLineFormat(word: string, output: Format): void {
  if (!lineFormats.some((one) => one === output))
    throw new UsageError(
      `An export has one target per line: --output csv or jsonl, not ${output}. "caretaker runs show ${word} --output ${output}" shows the run.`,
    );
}

/** Shows targets while they are read. */
export const showLines = (rows: AsyncIterable<object>, terminal: Terminal, output: Format): Promise<void> =>
  show(terminal, { output }, { value: undefined, text: () => undefined, rows, columns: targetColumns });
