import { listTargets } from '../../control/commands/list-runs.ts';
import { type TargetReport, targetColumns } from '../../run/report.ts';
import { type RecordReader, withReader } from '../client.ts';
import type { GlobalOptions } from '../context.ts';
import { exit, UsageError } from '../exit.ts';
import { type Format, lineFormats, show } from '../output/show.ts';
import type { Terminal } from '../output/terminal.ts';
import { runNamed } from '../read-runs.ts';

const PAGE = 1_000;

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
  return withReader('records', terminal, options, async (client) => {
    const { id } = await runNamed(client, word);
    const rows = targetsOf(client, id);
    await show(terminal, options, { value: undefined, text: () => undefined, rows, columns: targetColumns });
    return exit.ok;
  });
}

async function* targetsOf({ read }: RecordReader, run: string): AsyncGenerator<object> {
  const none = { targets: [] as TargetReport[], next: null };
  for (let after: string | null = '0'; after !== null; ) {
    const page: { targets: TargetReport[]; next: string | null } = await read(
      listTargets,
      { run, after, limit: PAGE },
      none,
    );
    for (const target of page.targets) yield { run, ...target };
    after = page.next;
  }
}
