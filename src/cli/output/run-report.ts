/** A run and its targets in every format: the report as a value, the targets as rows. */
import { type RunReport, targetColumns, toReport } from '../../run/report.ts';
import type { Run, Target } from '../../run/run.ts';
import { clockOf } from '../io.ts';
import { type OutputOption, show } from './show.ts';
import type { Terminal } from './terminal.ts';

interface Reported {
  run: Run;
  targets: readonly Target[];
  /** The public form of both, where it was read. */
  report?: RunReport;
  text(): void;
}

/** Shows a run with these targets; `text` prints it for people. */
export function showReport(
  terminal: Terminal,
  options: OutputOption,
  { run, targets, report = toReport(run, targets, clockOf(terminal.io).now()), text }: Reported,
): Promise<void> {
  const rows = report.targets.map((target) => ({ run: report.run, ...target }));
  return show(terminal, options, { value: report, rows, columns: targetColumns, text });
}
