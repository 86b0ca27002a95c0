/** A run and its targets in every format: the report as a value, the targets as rows. */
import { toReport, toTargetReport } from '../../run/report.ts';
import type { Run, Target } from '../../run/run.ts';
import { stepNamesOf } from '../../run/steps.ts';
import { type OutputOption, show } from './show.ts';
import type { Terminal } from './terminal.ts';

/** The columns of `csv`. A line of `jsonl` has all fields of a target. */
export const targetColumns = [
  ...['run', 'id', 'label', 'outcome', 'reason', 'detail', 'task_id', 'attempts', 'started_at'],
  'finished_at',
];

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
    value: toReport(run, targets),
    rows: targets.map((target) => targetRow(run.id, target, stepNames)),
    columns: targetColumns,
    text,
  });
};
