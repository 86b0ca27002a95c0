/** Compares a run with an earlier one of its policy. */
import { isoMinute } from '../../clock.ts';
import { compareRuns, formatComparison, type TargetDifference } from '../../control/commands/compare-runs.ts';
import { toRun } from '../../run/from-report.ts';
import { parseDuration } from '../../yaml/duration.ts';
import { withReader } from '../client.ts';
import type { GlobalOptions } from '../context.ts';
import { UsageError } from '../exit.ts';
import { type List, showList } from '../output/list.ts';
import { clockTime, endLines } from '../output/show-run.ts';
import type { Terminal } from '../output/terminal.ts';
import { runNamed } from '../read-runs.ts';

/** Prints both runs, and a line for each target that differs. */
export const compareRunsOf = (
  terminal: Terminal,
  word: string,
  options: GlobalOptions & { with?: string },
): Promise<number> =>
  withReader('records', terminal, options, async (client) => {
    const { id: run } = await runNamed(client, word);
    const wanted = options.with;
    const other =
      wanted === undefined || parseDuration(wanted) !== undefined
        ? wanted
        : (await runNamed(client, wanted)).id;
    const answer = await client.read(compareRuns, { run, with: other }, () => {
      throw new UsageError(`There is no run "${run}". "caretaker runs" lists them.`);
    });
    const about = (one: typeof answer.run) => {
      for (const line of endLines(toRun(one), terminal))
        terminal.data(`${line}, created ${isoMinute(one.created_at)}`);
    };
    return showList(terminal, options, list, {
      rows: answer.targets,
      value: answer,
      none: `No target differs: ${formatComparison(answer.counts)}.`,
      above() {
        about(answer.run);
        about(answer.other);
        if (answer.targets.length > 0) terminal.data(`Compared: ${formatComparison(answer.counts)}.`);
      },
    });
  });

const how = (ended: TargetDifference['now']): string => (ended ? ended.reason : '-');
const took = (ended: TargetDifference['now']): string => (ended?.ms == null ? '' : clockTime(ended.ms));

const list: List<TargetDifference> = {
  table: {
    change: ({ change }) => change,
    target: ({ id }) => id,
    label: ({ label }) => label,
    before: ({ before }) => how(before),
    now: ({ now }) => how(now),
    'took before': ({ before }) => took(before),
    took: ({ now }) => took(now),
  },
  shrink: ['label: 16', 'took before: 0', 'took: 0', 'label: 0'],
  csv: ['change id label before.outcome before.reason before.ms now.outcome now.reason now.ms'],
};
