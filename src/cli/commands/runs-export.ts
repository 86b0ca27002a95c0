import { stepNamesOf } from '../../run/steps.ts';
import { type GlobalOptions, settingsOf, withRecords } from '../context.ts';
import { exit, UsageError } from '../exit.ts';
import { targetColumns, targetRow } from '../output/run-report.ts';
import { type Format, lineFormats, show } from '../output/show.ts';
import type { Terminal } from '../output/terminal.ts';
import { runNamed } from '../run-id.ts';

/** Prints the targets of a run, one per line. Reads and writes page by page, however many there are. */
export async function exportRun(
  terminal: Terminal,
  word: string,
  options: GlobalOptions & { output: Format },
): Promise<number> {
  const { output } = options;
  if (!lineFormats.some((one) => one === output))
    throw new UsageError(
      `An export has one target per line: --output csv or jsonl, not ${output}. "caretaker runs show ${word} --output ${output}" shows the run.`,
    );
  return withRecords(options, settingsOf(options), async ({ records }) => {
    const run = await runNamed(records, word);
    const stepNames = stepNamesOf(run);
    async function* rows() {
      for await (const target of records.targets.all(run.id)) yield targetRow(run.id, target, stepNames);
    }
    const nothing = { value: undefined, text: () => undefined };
    await show(terminal, { output }, { ...nothing, rows: rows(), columns: targetColumns });
    return exit.ok;
  });
}
