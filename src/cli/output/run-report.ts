/** A run and its targets in every format: the report as a value, the targets as rows. */
import { targetColumns, toReport, toTargetReport } from '../../run/report.ts';
import type { Run, Target } from '../../run/run.ts';
import { stepNamesOf } from '../../run/steps.ts';
import { clockOf } from '../io.ts';
import { type OutputOption, show } from './show.ts';
import type { Terminal } from './terminal.ts';

export const targetRow = (run: string, target: Target, stepNames: readonly string[]): object => ({
  run,
  ...toTargetReport(target, stepNames),
});

/** Shows a run with these targets; `text` prints it for people. */
export const showReport = (
  terminal: Terminal,
  options: OutputOption,
  { run, targets, text }: { run: Run; targets: readonly Target[]; text(): void },
): Promise<void> => {
  const stepNames = stepNamesOf(run);
  return show(terminal, options, {
    value: toReport(run, targets, clockOf(terminal.io).now()),
    rows: targets.map((target) => targetRow(run.id, target, stepNames)),
    columns: targetColumns,
    text,
  });
};
